// The kernel matrix as the solvers see it: rows and a diagonal. Which rows are kept is known here alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/pages.hpp"
#include "base/rounding.hpp"
#include "base/state.hpp"
#include "base/transpose.hpp"
#include "kernel/source.hpp"

namespace pegasos {

/// Room for rows of equal length, taken a slab at a time.
template <class Real>
class RowStore {
public:
    /// Rows that there is room for at the least, or else std::bad_alloc; all, where there are fewer.
    static constexpr std::size_t fewest = 64;

    RowStore(std::size_t length, std::size_t most) : stride_((length + 15) / 16 * 16), most_(most) {}

    /// Room for one more row; null when there is none.
    Real* take() {
        if (taken_ == most_) return nullptr;
        const std::size_t row_bytes = stride_ * sizeof(Real);
        const std::size_t per_slab = std::clamp<std::size_t>(slab_bytes / row_bytes, 1, most_);
        if (taken_ % per_slab == 0) {
            Pages<Real> memory = take_pages<Real>(per_slab * stride_);
            if (!memory) {
                if (taken_ < std::min(most_, fewest)) throw std::bad_alloc();
                most_ = taken_;  // what there is must do
                return nullptr;
            }
            slabs_.push_back(std::move(memory));
        }
        return slabs_.back().get() + taken_++ % per_slab * stride_;
    }

private:
    static constexpr std::size_t slab_bytes = std::size_t{32} << 20;
    const std::size_t stride_;
    std::size_t most_, taken_ = 0;
    std::vector<Pages<Real>> slabs_;
};

template <class Real>
class Gram {
public:
    /// Keeps at most `most` rows, those used last, but at least as many as one call asks for.
    Gram(KernelSource<Real>& source, std::size_t most, Team& team, Monitor& monitor)
        : source_(source),
          n_(source.size()),
          most_(std::clamp<std::size_t>(most, std::min(n_, RowStore<Real>::fewest), n_)),
          store_(n_, most_),
          places_(n_, nullptr),
          where_(n_),
          diagonal_(n_),
          team_(team),
          monitor_(monitor) {
        for (std::size_t i = 0; i < n_; ++i) diagonal_[i] = source.diagonal(i);
    }

    std::size_t size() const { return n_; }
    std::size_t most() const { return most_; }
    double diagonal(std::size_t i) const { return diagonal_[i]; }
    bool has(std::size_t i) const { return places_[i] != nullptr; }
    bool is_full() const { return used_.size() == most_; }
    KernelSource<Real>& source() const { return source_; }
    /// Of the kernel; rows that were kept cost none.
    double evaluations() const { return evaluations_; }
    void count(double evaluations) { evaluations_ += evaluations; }
    /// How far responses to coefficients of this size, kept while these changed, may be from the true ones:
    /// by the error of the matrix, and by what additions round off and products lose to underflow.
    double error_of(double size) const {
        const double lost = moved_ > 0 ? 4 * least * terms_ : 0;
        return size * source_.error() + drift_ + 2 * unit * terms_ * moved_ * source_.largest() + lost;
    }
    /// Takes note of rows that are added to responses elsewhere, and of responses that are off already.
    void note(std::span<const double> steps, double drift = 0) {
        terms_ += static_cast<double>(steps.size());
        for (const double step : steps) moved_ += std::abs(step);
        drift_ += drift;
    }
    /// What `error_of` has beside the error of the matrix.
    double drift() const { return error_of(0); }

    /// One row, valid until the next call.
    const Real* row(RowNumber i) {
        const Real* found;
        rows({&i, 1}, {&found, 1});
        return found;
    }

    /// At most `most()` different rows, valid until the next call. std::bad_alloc where memory does not hold
    /// them at a time.
    void rows(std::span<const RowNumber> wanted, std::span<const Real*> found) {
        missing_.clear();
        room_.clear();
        for (const RowNumber i : wanted)
            if (places_[i]) used_.splice(used_.end(), used_, where_[i]);
        try {
            for (const RowNumber i : wanted) {
                if (places_[i]) continue;
                missing_.push_back(i);
                room_.push_back(take_place());
                where_[i] = used_.insert(used_.end(), i);
                places_[i] = room_.back();
            }
            for (const RowNumber i : wanted)
                if (!places_[i]) throw std::bad_alloc();  // another one has taken its place
            if (!missing_.empty()) source_.compute(missing_, {}, room_, team_, monitor_);
        } catch (...) {
            for (const RowNumber i : missing_) {  // half done: forget them
                if (!places_[i]) continue;
                used_.erase(where_[i]);
                spare_.push_back(std::exchange(places_[i], nullptr));
            }
            throw;
        }
        evaluations_ += static_cast<double>(missing_.size()) * static_cast<double>(n_);
        for (std::size_t k = 0; k < wanted.size(); ++k) found[k] = places_[wanted[k]];
    }

    /// The square of some rows and columns, row by row: from rows that are kept, the rest computed. The rows
    /// of `out` begin at cache lines.
    void square(std::span<const RowNumber> which, Real* out, std::size_t stride) {
        const std::size_t m = which.size();
        std::vector<std::size_t> computed(m);  // from which column on; none of rows that are kept
        std::vector<std::size_t> places;
        missing_.clear();
        for (std::size_t k = 0; k < m; ++k) {
            if (places_[which[k]]) continue;
            missing_.push_back(which[k]);
            places.push_back(k);
        }
        if (!source_.by_columns() && missing_.size() + used_.size() <= most_) {
            const std::vector<RowNumber> wanted = missing_;
            std::vector<const Real*> found(wanted.size());
            rows(wanted, found);
        } else {
            // A value that belongs in two places is computed for one of them: rows in blocks, each from the
            // column of its first one on.
            const std::size_t whole = std::max<std::size_t>(missing_.size(), 1);
            const std::size_t block = !source_.by_columns() ? whole : m < 2048 ? 64 : 256;
            for (std::size_t k = 0; k < missing_.size(); k += block) {
                const std::size_t first = source_.by_columns() ? places[k] : 0;
                const auto some = std::span<const RowNumber>(missing_).subspan(k).first(
                    std::min(block, missing_.size() - k));
                room_.clear();
                for (std::size_t r = k; r < k + some.size(); ++r) {
                    room_.push_back(out + places[r] * stride + first);
                    computed[places[r]] = first;
                }
                source_.compute(some, which.subspan(first), room_, team_, monitor_);
                evaluations_ += static_cast<double>(some.size()) *
                                static_cast<double>(source_.by_columns() ? m - first : n_);
            }
        }
        in_stretches(m, 16, m, team_, monitor_, [&](std::size_t first, std::size_t last) {
            for (std::size_t k = first; k < last; ++k)
                if (const Real* row = places_[which[k]])
                    for (std::size_t c = 0; c < m; ++c) out[k * stride + c] = row[which[c]];
        });
        in_stretches((m + lane - 1) / lane, 1, m * lane, team_, monitor_, [&](std::size_t tile, std::size_t) {
            const std::size_t first = tile * lane, count = std::min(lane, m - first);
            mirror(out, stride, first, std::span<const std::size_t>(computed).subspan(first, count));
        });
    }

    /// A square as above, at hand.
    struct Square {
        std::span<const RowNumber> which;
        const Real* values;
        std::size_t stride;
    };

    /// f += sum_k steps[k] K_which[k]. Rows that `keeps` says no to are not kept for later, if they need not
    /// be computed in full: to write a row to new memory may cost more than to compute it. Of those, what is
    /// in `square`, which has them all, is not computed again.
    void add(std::span<const RowNumber> which, std::span<const double> steps, std::vector<double>& f,
             const std::function<bool(std::size_t)>& keeps = {}, const Square& square = {}) {
        std::vector<RowNumber> kept, passing;
        std::vector<double> kept_steps, passing_steps;
        for (std::size_t k = 0; k < which.size(); ++k) {
            const bool passes = keeps && source_.accumulates() && !has(which[k]) && !keeps(k);
            (passes ? passing : kept).push_back(which[k]);
            (passes ? passing_steps : kept_steps).push_back(steps[k]);
        }
        if (!passing.empty()) add_passing(passing, passing_steps, square, f);
        add_kept(kept, kept_steps, f);
    }

    /// The same for rows that are at hand.
    void add_found(std::span<const Real* const> found, std::span<const double> steps,
                   std::vector<double>& f) {
        note(steps);
        add_rows(found, steps, f);
    }

    /// With the rows that are kept, by their numbers: they are computed again. Which rows are at hand decides
    /// in which order rows are added.
    void state(State& state) {
        std::vector<RowNumber> kept(used_.begin(), used_.end());
        state(kept, evaluations_, terms_, moved_, drift_);
        if (!state.reads()) return;
        if (kept.size() > most_ || std::any_of(kept.begin(), kept.end(), [&](auto i) { return i >= n_; }))
            State::refuse();
        const double evaluations = evaluations_;
        constexpr std::size_t some = 64;
        std::vector<const Real*> found(some);
        for (std::size_t first = 0; first < kept.size(); first += some) {
            const auto part =
                std::span<const RowNumber>(kept).subspan(first, std::min(some, kept.size() - first));
            rows(part, std::span<const Real*>(found).first(part.size()));
        }
        evaluations_ = evaluations;
    }

private:
    static constexpr std::size_t lane = 64 / sizeof(Real);

    /// Of rows from `first` on, as many as a line has or fewer: what is left of the column that each was
    /// computed from is taken from there.
    static void mirror(Real* out, std::size_t stride, std::size_t first,
                       std::span<const std::size_t> computed) {
        const auto [least, most] = std::minmax_element(computed.begin(), computed.end());
        Real* rows[lane];
        for (std::size_t r = 0; r < computed.size(); ++r) rows[r] = out + (first + r) * stride;
        std::size_t c = 0;
        if (computed.size() == lane)
            for (; c + lane <= *least; c += lane)
                transpose_square(out + c * stride + first, stride / lane, rows, c);
        for (; c < *most; ++c)
            for (std::size_t r = 0; r < computed.size(); ++r)
                if (c < computed[r]) rows[r][c] = out[c * stride + first + r];
    }

    void add_passing(std::span<const RowNumber> which, std::span<const double> steps, const Square& square,
                     std::vector<double>& f) {
        constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
        std::vector<std::size_t> places(n_, none);  // in the square
        for (std::size_t k = square.which.size(); k-- > 0;) places[square.which[k]] = k;
        std::vector<RowNumber> others;
        for (std::size_t i = 0; i < n_; ++i)
            if (places[i] == none) others.push_back(static_cast<RowNumber>(i));
        if (!others.empty()) {
            std::vector<double> sums(others.size());
            source_.accumulate(which, steps, others, sums.data(), team_, monitor_);
            for (std::size_t k = 0; k < others.size(); ++k) f[others[k]] += sums[k];
        }
        if (others.size() < n_) {
            std::vector<const Real*> found;
            for (const RowNumber i : which) found.push_back(square.values + places[i] * square.stride);
            std::vector<double> sums(square.which.size());
            add_rows(found, steps, sums);
            for (std::size_t k = 0; k < sums.size(); ++k)
                if (places[square.which[k]] == k) f[square.which[k]] += sums[k];
        }
        evaluations_ += static_cast<double>(which.size()) * static_cast<double>(others.size());
        note(steps);
    }

    /// out += sum_k steps[k] found[k]
    void add_rows(std::span<const Real* const> found, std::span<const double> steps,
                  std::vector<double>& sums) {
        in_stretches(
            sums.size(), 1024, found.size(), team_, monitor_, [&](std::size_t first, std::size_t last) {
                std::size_t k = 0;
                double* __restrict out = sums.data();
                for (; k + 4 <= found.size(); k += 4) {
                    const Real *a = found[k], *b = found[k + 1], *c = found[k + 2], *d = found[k + 3];
                    const double p = steps[k], q = steps[k + 1], r = steps[k + 2], s = steps[k + 3];
#pragma omp simd
                    for (std::size_t i = first; i < last; ++i)
                        out[i] += (p * a[i] + q * b[i]) + (r * c[i] + s * d[i]);
                }
                for (; k < found.size(); ++k) {
                    const Real* a = found[k];
                    const double p = steps[k];
#pragma omp simd
                    for (std::size_t i = first; i < last; ++i) out[i] += p * a[i];
                }
            });
    }

    /// How many of so many rows memory holds at a time.
    std::size_t make_room(std::size_t wanted) {
        while (used_.size() + spare_.size() < wanted) {
            Real* const place = store_.take();
            if (!place) break;
            spare_.push_back(place);
        }
        return std::min(wanted, used_.size() + spare_.size());
    }

    /// Room for a row: new if there is any, else that of the row used longest ago.
    Real* take_place() {
        Real* place = nullptr;
        if (!spare_.empty()) {
            place = spare_.back();
            spare_.pop_back();
        } else if (!(place = store_.take())) {
            place = std::exchange(places_[used_.front()], nullptr);
            used_.pop_front();
        }
        return place;
    }

    /// No more rows are asked for at a time than memory holds.
    void add_kept(std::span<const RowNumber> which, std::span<const double> steps, std::vector<double>& f) {
        const std::size_t most = make_room(std::min(which.size(), most_));
        std::vector<const Real*> found(most);
        for (std::size_t start = 0; start < which.size(); start += most) {
            const std::size_t count = std::min(most, which.size() - start);
            const auto part = std::span<const Real*>(found).first(count);
            rows(which.subspan(start, count), part);
            add_found(part, steps.subspan(start, count), f);
        }
    }

    KernelSource<Real>& source_;
    const std::size_t n_, most_;
    RowStore<Real> store_;
    std::vector<Real*> places_;  // of the rows that are kept
    std::list<RowNumber> used_;  // those, the one used last at the end
    std::vector<std::list<RowNumber>::iterator> where_;
    std::vector<double> diagonal_;
    std::vector<RowNumber> missing_;
    std::vector<Real*> room_;
    std::vector<Real*> spare_;  // room that no row has
    double evaluations_ = 0;
    double terms_ = 16, moved_ = 0, drift_ = 0;
    Team& team_;
    Monitor& monitor_;
};

}  // namespace pegasos
