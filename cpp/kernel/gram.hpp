// The kernel matrix as the solvers see it: rows and a diagonal. Where the rows come from, and which of them
// are kept, is known here alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/monitor.hpp"
#include "base/rounding.hpp"
#include "base/threads.hpp"
#include "kernel/blocks.hpp"
#include "kernel/error.hpp"

namespace pegasos {

/// Computes parts of the kernel matrix of n examples.
template <class Real>
class KernelSource {
public:
    virtual ~KernelSource() = default;
    virtual std::size_t size() const = 0;
    virtual double diagonal(std::size_t i) const = 0;
    /// How far a value may be from what it stands for, and how large it is at most.
    virtual double error() const = 0;
    virtual double largest() const = 0;
    /// out[k][c] is the kernel of rows[k] and columns[c]; all n where no columns are given.
    virtual void compute(std::span<const RowNumber> rows, std::span<const RowNumber> columns,
                         std::span<Real* const> out, Team& team, Monitor& monitor) = 0;
    /// Whether `compute` with few columns costs less than with all.
    virtual bool by_columns() const { return true; }
    /// sums[c] += sum_k steps[k] K(rows[k], columns[c]), without the rows themselves; all n where no columns
    /// are given. False where they would have to be computed just the same.
    virtual bool accumulate(std::span<const RowNumber> /*rows*/, std::span<const double> /*steps*/,
                            std::span<const RowNumber> /*columns*/, double* /*sums*/, Team&, Monitor&) {
        return false;
    }
    /// Whether it does.
    virtual bool accumulates() const { return false; }
};

/// Calls f(first, last) on ranges of [0, n) in all threads, a stretch at a time; thread 0 tells the monitor.
template <class F>
void in_stretches(std::size_t n, std::size_t stretch, std::size_t work, Team& team, Monitor& monitor, F f) {
    team.run_ranges(n, [&](std::size_t k, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; i += stretch) {
            const std::size_t end = std::min(i + stretch, last);
            f(i, end);
            if (k == 0) monitor.worked((end - i) * work);
            if (team.failed()) return;
        }
    });
}

/// From examples and a kernel.
template <class Real>
class PointKernel final : public KernelSource<Real> {
public:
    /// `entries_error`: that of the entries, relative, where they are not those of the problem.
    PointKernel(const Points<Real>& points, const Kernel& kernel, Team& team, double entries_error = 0)
        : bytes_(kernel.differences ? ByteRows{} : ByteRows::of(points, team)),
          points_(points),
          kernel_(kernel),
          squares_(points.n),
          diagonal_(points.n) {
        if (!bytes_.empty()) points_.bytes = &bytes_;
        const std::size_t n_parts = team.size();
        std::vector<double> largest(n_parts), longest(n_parts);
        team.run_ranges(points.n, [&](std::size_t k, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                const double square = points.squared_norm(i);
                squares_[i] = static_cast<Real>(square);
                diagonal_[i] = kernel.of_itself(square);
                largest[k] = std::max(largest[k], square);
                longest[k] = std::max(longest[k], static_cast<double>(points.entries(i)));
            }
        });
        const double square = *std::max_element(largest.begin(), largest.end());
        double terms = *std::max_element(longest.begin(), longest.end());
        if (!bytes_.empty()) {
            terms = 3;  // sums of whole numbers are exact; their conversion and two factors are not
            entries_error += ByteRows::tolerance;
        } else if (terms > 2 * chain) {
            terms = points.sparse() ? cut_rows(terms) : chain + std::ceil(terms / chain);
        }
        largest_ = kernel.kind == Kernel::Kind::rbf || kernel.kind == Kernel::Kind::sigmoid
                       ? 1
                       : kernel.of_itself(std::max(square, 0.0));
        if (kernel.kind == Kernel::Kind::poly)
            largest_ = std::pow(kernel.gamma * square + std::abs(kernel.coef0), kernel.degree);
        const bool whole = entries_error == 0 && 4 * square * rounding_unit<Real> < 1 && has_whole_numbers();
        error_ =
            KernelError{rounding_unit<Real>, entries_error, terms, square * (1 + 1e-6), whole}.of(kernel);
        largest_ += error_;
    }
    PointKernel(const PointKernel&) = delete;
    PointKernel& operator=(const PointKernel&) = delete;
    std::size_t size() const override { return points_.n; }
    double diagonal(std::size_t i) const override { return diagonal_[i]; }
    double error() const override { return error_; }
    double largest() const override { return largest_; }

    /// sums[i] += sum_j coef[j] K(j, i) of the first examples, as many as there are coefficients. Each value
    /// is computed once for both that it belongs to.
    void accumulate_square(std::span<const double> coef, double* sums, Team& team, Monitor& monitor) {
        const std::size_t n = coef.size();
        std::vector<RowNumber> rows(n);
        std::iota(rows.begin(), rows.end(), RowNumber{0});
        with_table(points_, points_, n, [&]<class T>(T& table) {
            std::vector<double> across(team.size() * T::width);
            for (std::size_t k = 0; k < n; k += T::width) {
                const std::size_t count = std::min(T::width, n - k);
                table.fill(points_, std::span<const RowNumber>(rows).subspan(k, count));
                alignas(64) double own[T::width] = {};
                std::copy_n(coef.begin() + static_cast<std::ptrdiff_t>(k), count, own);
                std::fill(across.begin(), across.end(), 0.0);
                team.run_ranges(n - k, [&](std::size_t thread, std::size_t first, std::size_t last) {
                    double* back = &across[thread * T::width];
                    for (std::size_t i = k + first; i < k + last; i += stretch) {
                        const std::size_t end = std::min(i + stretch, k + last);
                        table.against(kernel_, points_, squares_.data(), i, end,
                                      [&](std::size_t at, const Real* values) {
                                          const double c = at < k + count ? 0 : coef[at];
                                          double sum = 0;
#pragma omp simd reduction(+ : sum)
                                          for (std::size_t r = 0; r < T::width; ++r) {
                                              const double value = static_cast<double>(values[r]);
                                              sum += own[r] * value;
                                              back[r] += c * value;
                                          }
                                          sums[at] += sum;
                                      });
                        if (thread == 0) monitor.worked((end - i) * mean_entries() * T::width / T::lane);
                        if (team.failed()) return;
                    }
                });
                for (std::size_t thread = 0; thread < team.size(); ++thread)
                    for (std::size_t r = 0; r < count; ++r) sums[k + r] += across[thread * T::width + r];
            }
        });
    }

    void compute(std::span<const RowNumber> rows, std::span<const RowNumber> columns,
                 std::span<Real* const> out, Team& team, Monitor& monitor) override {
        const Points<Real> many = columns.empty() ? points_ : points_.some(columns);
        with_table(points_, many, rows.size(),
                   [&](auto& table) { fill(table, rows, many, out, team, monitor); });
    }

    bool accumulates() const override { return true; }
    bool accumulate(std::span<const RowNumber> rows, std::span<const double> steps,
                    std::span<const RowNumber> columns, double* sums, Team& team, Monitor& monitor) override {
        const Points<Real> many = columns.empty() ? points_ : points_.some(columns);
        with_table(points_, many, rows.size(), [&]<class T>(T& table) {
            for (std::size_t k = 0; k < rows.size(); k += T::width) {
                const std::size_t count = std::min(T::width, rows.size() - k);
                table.fill(points_, rows.subspan(k, count));
                alignas(64) double own[T::width] = {};
                std::copy_n(steps.begin() + static_cast<std::ptrdiff_t>(k), count, own);
                in_stretches(many.n, stretch, mean_entries() * T::width / T::lane, team, monitor,
                             [&](std::size_t first, std::size_t last) {
                                 table.against(kernel_, many, squares_.data(), first, last,
                                               [&](std::size_t i, const Real* values) {
                                                   double sum = 0;
#pragma omp simd reduction(+ : sum)
                                                   for (std::size_t r = 0; r < T::width; ++r)
                                                       sum += own[r] * static_cast<double>(values[r]);
                                                   sums[i] += sum;
                                               });
                             });
            }
        });
        return true;
    }

private:
    bool has_whole_numbers() const {
        for (std::size_t i = 0; i < points_.n; ++i) {
            bool all = true;
            points_.for_each(i, [&](std::size_t, Real value) { all &= value == std::nearbyint(value); });
            if (!all) return false;
        }
        return true;
    }

    /// Where a row has many entries, its products are added up by spans of columns that have as many as a
    /// partial sum should; how many terms follow one another then.
    double cut_rows(double longest) {
        const double d = static_cast<double>(points_.n_features);
        points_.span = std::max<std::size_t>(static_cast<std::size_t>(d * chain / longest), 1);
        double most = 0;
        for (std::size_t i = 0; i < points_.n; ++i) {
            double own = 0, parts = 0;
            std::size_t last = SIZE_MAX;
            points_.for_each(i, [&](std::size_t j, Real) {
                const std::size_t part = j / points_.span;
                own = part == last ? own + 1 : 1;
                parts += part != last;
                last = part;
                most = std::max(most, own);
            });
            most = std::max(most, parts);
        }
        return 2 * most;
    }

    std::size_t mean_entries() const {
        return points_.sparse() ? 1 + static_cast<std::size_t>(points_.starts[points_.n]) / points_.n
                                : points_.n_features;
    }

    template <class T>
    void fill(T& table, std::span<const RowNumber> rows, const Points<Real>& many, std::span<Real* const> out,
              Team& team, Monitor& monitor) {
        constexpr std::size_t lines = T::width / T::lane;
        const std::size_t entries = mean_entries();
        for (std::size_t k = 0; k < rows.size(); k += T::width) {
            const std::size_t count = std::min(T::width, rows.size() - k);
            table.fill(points_, rows.subspan(k, count));
            in_stretches(
                many.n, stretch, entries * lines, team, monitor, [&](std::size_t first, std::size_t last) {
                    alignas(64) Real values[stretch][T::width];
                    table.against(kernel_, many, squares_.data(), first, last,
                                  [&](std::size_t i, const Real* own) {
                                      std::copy_n(own, T::width, values[i - first]);
                                  });
                    const std::size_t squares_i = (last - first) / T::lane, squares_r = count / T::lane;
                    for (std::size_t r = 0; r < squares_r; ++r)
                        for (std::size_t i = 0; i < squares_i; ++i)
                            transpose_square(&values[i * T::lane][r * T::lane], lines, &out[k + r * T::lane],
                                             first + i * T::lane);
                    for (std::size_t r = 0; r < count; ++r)
                        for (std::size_t i = r < squares_r * T::lane ? squares_i * T::lane : 0;
                             i < last - first; ++i)
                            out[k + r][first + i] = values[i][r];
                });
        }
    }

    const ByteRows bytes_;
    Points<Real> points_;
    const Kernel kernel_;
    std::vector<Real> squares_;
    std::vector<double> diagonal_;
    double error_ = 0, largest_ = 0;
};

/// From a matrix that is there.
template <class Real, class Given>
class GivenKernel final : public KernelSource<Real> {
public:
    GivenKernel(const Given* values, std::size_t n, std::size_t stride)
        : values_(values), n_(n), stride_(stride) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                largest_ = std::max(largest_, std::abs(static_cast<double>(values[i * stride + j])));
    }
    std::size_t size() const override { return n_; }
    double diagonal(std::size_t i) const override { return static_cast<double>(values_[i * stride_ + i]); }
    double error() const override { return 0; }
    double largest() const override { return largest_; }
    void compute(std::span<const RowNumber> rows, std::span<const RowNumber> columns,
                 std::span<Real* const> out, Team& team, Monitor& monitor) override {
        const std::size_t width = columns.empty() ? n_ : columns.size();
        in_stretches(rows.size(), 16, width, team, monitor, [&](std::size_t first, std::size_t last) {
            for (std::size_t k = first; k < last; ++k) {
                const Given* row = values_ + rows[k] * stride_;
                for (std::size_t c = 0; c < width; ++c)
                    out[k][c] = static_cast<Real>(row[columns.empty() ? c : columns[c]]);
            }
        });
    }

private:
    const Given* values_;
    const std::size_t n_, stride_;
    double largest_ = 0;
};

/// Whole rows from a function, in blocks of at most `block` of them.
template <class Real>
class CalledKernel final : public KernelSource<Real> {
public:
    using Function = std::function<void(std::span<const RowNumber> rows, std::span<Real* const> out)>;
    static constexpr std::size_t block = 256;

    CalledKernel(Function function, std::vector<double> diagonal)
        : function_(std::move(function)), diagonal_(std::move(diagonal)) {
        for (const double own : diagonal_) largest_ = std::max(largest_, std::abs(own));
    }
    std::size_t size() const override { return diagonal_.size(); }
    double diagonal(std::size_t i) const override { return diagonal_[i]; }
    double error() const override { return 0; }
    double largest() const override { return largest_; }
    bool by_columns() const override { return false; }
    void compute(std::span<const RowNumber> rows, std::span<const RowNumber> columns,
                 std::span<Real* const> out, Team&, Monitor& monitor) override {
        std::vector<Real> whole(columns.empty() ? 0 : block * size());
        std::vector<Real*> places(block);
        for (std::size_t k = 0; k < rows.size(); k += block) {
            const std::size_t count = std::min(block, rows.size() - k);
            for (std::size_t r = 0; r < count; ++r)
                places[r] = columns.empty() ? out[k + r] : &whole[r * size()];
            function_(rows.subspan(k, count), std::span<Real* const>(places).first(count));
            for (std::size_t r = 0; r < count && !columns.empty(); ++r)
                for (std::size_t c = 0; c < columns.size(); ++c) out[k + r][c] = places[r][columns[c]];
            monitor.look();
        }
    }

private:
    Function function_;
    std::vector<double> diagonal_;
    double largest_ = 0;  // of the diagonal, and so of all of a positive semi-definite matrix
};

/// Of some of the examples of another source alone.
template <class Real>
class PartKernel final : public KernelSource<Real> {
public:
    PartKernel(KernelSource<Real>& whole, std::vector<RowNumber> rows)
        : whole_(whole), rows_(std::move(rows)) {}
    std::size_t size() const override { return rows_.size(); }
    double diagonal(std::size_t i) const override { return whole_.diagonal(rows_[i]); }
    double error() const override { return whole_.error(); }
    double largest() const override { return whole_.largest(); }
    void compute(std::span<const RowNumber> rows, std::span<const RowNumber> columns,
                 std::span<Real* const> out, Team& team, Monitor& monitor) override {
        whole_.compute(named(rows), columns.empty() ? rows_ : named(columns), out, team, monitor);
    }
    bool by_columns() const override { return whole_.by_columns(); }
    bool accumulates() const override { return whole_.accumulates(); }
    bool accumulate(std::span<const RowNumber> rows, std::span<const double> steps,
                    std::span<const RowNumber> columns, double* sums, Team& team, Monitor& monitor) override {
        return whole_.accumulate(named(rows), steps, columns.empty() ? rows_ : named(columns), sums, team,
                                 monitor);
    }

private:
    std::vector<RowNumber> named(std::span<const RowNumber> which) const {
        std::vector<RowNumber> names;
        for (const RowNumber i : which) names.push_back(rows_[i]);
        return names;
    }

    KernelSource<Real>& whole_;
    const std::vector<RowNumber> rows_;
};

/// Room for rows of equal length, taken a slab at a time.
template <class Real>
class RowStore {
public:
    RowStore(std::size_t length, std::size_t most) : stride_((length + 15) / 16 * 16), most_(most) {}

    /// Room for one more row; null when there is none.
    Real* take() {
        if (taken_ == most_) return nullptr;
        const std::size_t row_bytes = stride_ * sizeof(Real);
        const std::size_t per_slab = std::clamp<std::size_t>(slab_bytes / row_bytes, 1, most_);
        if (taken_ % per_slab == 0) {
            const std::size_t bytes = (per_slab * row_bytes + page - 1) / page * page;
            void* memory = std::aligned_alloc(page, bytes);
            if (!memory) {
                if (taken_ < 2) throw std::bad_alloc();
                most_ = taken_;  // what there is must do
                return nullptr;
            }
#if defined(__linux__)
            madvise(memory, bytes, MADV_HUGEPAGE);
#endif
            slabs_.emplace_back(static_cast<Real*>(memory), &std::free);
        }
        return slabs_.back().get() + taken_++ % per_slab * stride_;
    }

private:
    static constexpr std::size_t page = std::size_t{1} << 21, slab_bytes = std::size_t{32} << 20;
    const std::size_t stride_;
    std::size_t most_, taken_ = 0;
    std::vector<std::unique_ptr<Real, decltype(&std::free)>> slabs_;
};

template <class Real>
class Gram {
public:
    /// Keeps at most `most` rows, those used last, but at least as many as one call asks for.
    Gram(KernelSource<Real>& source, std::size_t most, Team& team, Monitor& monitor)
        : source_(source),
          n_(source.size()),
          most_(std::clamp<std::size_t>(most, std::min<std::size_t>(n_, 64), n_)),
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
    /// How far responses to coefficients of this size, kept while these changed, may be from the true ones:
    /// by the error of the matrix, and by what additions round off.
    double error_of(double size) const {
        return size * source_.error() + drift_ + 2 * unit * terms_ * moved_ * source_.largest();
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

    /// At most `most()` different rows, valid until the next call.
    void rows(std::span<const RowNumber> wanted, std::span<const Real*> found) {
        missing_.clear();
        room_.clear();
        for (const RowNumber i : wanted)
            if (places_[i]) used_.splice(used_.end(), used_, where_[i]);
        for (const RowNumber i : wanted) {
            if (places_[i]) continue;
            Real* place = store_.take();
            if (!place) {
                place = places_[used_.front()];
                places_[used_.front()] = nullptr;
                used_.pop_front();
            }
            places_[i] = place;
            where_[i] = used_.insert(used_.end(), i);
            missing_.push_back(i);
            room_.push_back(place);
        }
        if (!missing_.empty()) {
            try {
                source_.compute(missing_, {}, room_, team_, monitor_);
            } catch (...) {
                for (const RowNumber i : missing_) {  // half done: forget them
                    used_.erase(where_[i]);
                    places_[i] = nullptr;
                }
                throw;
            }
            evaluations_ += static_cast<double>(missing_.size()) * static_cast<double>(n_);
        }
        for (std::size_t k = 0; k < wanted.size(); ++k) found[k] = places_[wanted[k]];
    }

    /// The square of some rows and columns, row by row: from rows that are kept, the rest computed.
    void square(std::span<const RowNumber> which, Real* out, std::size_t stride) {
        const std::size_t m = which.size();
        missing_.clear();
        room_.clear();
        for (std::size_t k = 0; k < m; ++k) {
            if (places_[which[k]]) continue;
            missing_.push_back(which[k]);
            room_.push_back(out + k * stride);
        }
        if (!missing_.empty()) {
            if (source_.by_columns() || missing_.size() + used_.size() > most_) {
                source_.compute(missing_, which, room_, team_, monitor_);
                evaluations_ +=
                    static_cast<double>(missing_.size()) * static_cast<double>(source_.by_columns() ? m : n_);
            } else {
                const std::vector<RowNumber> wanted = missing_;
                std::vector<const Real*> found(wanted.size());
                rows(wanted, found);
            }
        }
        in_stretches(m, 16, m, team_, monitor_, [&](std::size_t first, std::size_t last) {
            for (std::size_t k = first; k < last; ++k)
                if (const Real* row = places_[which[k]])
                    for (std::size_t c = 0; c < m; ++c) out[k * stride + c] = row[which[c]];
        });
    }

    /// f += sum_k steps[k] K_which[k]. Rows that `keeps` says no to are not kept for later, if they need not
    /// be computed in full: to write a row to new memory may cost more than to compute it.
    void add(std::span<const RowNumber> which, std::span<const double> steps, std::vector<double>& f,
             const std::function<bool(std::size_t)>& keeps = {}) {
        std::vector<RowNumber> kept, passing;
        std::vector<double> kept_steps, passing_steps;
        for (std::size_t k = 0; k < which.size(); ++k) {
            const bool passes = keeps && !has(which[k]) && !keeps(k);
            (passes ? passing : kept).push_back(which[k]);
            (passes ? passing_steps : kept_steps).push_back(steps[k]);
        }
        if (!passing.empty()) {
            if (source_.accumulate(passing, passing_steps, {}, f.data(), team_, monitor_)) {
                evaluations_ += static_cast<double>(passing.size()) * static_cast<double>(n_);
                note(passing_steps);
            } else {
                add_kept(passing, passing_steps, f);
            }
        }
        add_kept(kept, kept_steps, f);
    }

    /// The same for rows that are at hand.
    void add_found(std::span<const Real* const> found, std::span<const double> steps,
                   std::vector<double>& f) {
        note(steps);
        in_stretches(n_, 1024, found.size(), team_, monitor_, [&](std::size_t first, std::size_t last) {
            std::size_t k = 0;
            double* __restrict out = f.data();
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

private:
    /// No more rows than `most()` are asked for at a time.
    void add_kept(std::span<const RowNumber> which, std::span<const double> steps, std::vector<double>& f) {
        std::vector<const Real*> found(std::min(which.size(), most_));
        for (std::size_t start = 0; start < which.size(); start += most_) {
            const std::size_t count = std::min(most_, which.size() - start);
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
    double evaluations_ = 0;
    double terms_ = 16, moved_ = 0, drift_ = 0;
    Team& team_;
    Monitor& monitor_;
};

}  // namespace pegasos
