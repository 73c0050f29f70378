// Cutting planes and the reduced problem that they make (ocas.cpp).
//
// A plane is a choice of errors, q_i in {0, 1} for each row, with
//   a = C sum_i s_i q_i y_i x_i,   b = C sum_i s_i q_i,   b - <a, w> <= C sum_i s_i max(0, 1 - y_i <w, x_i>),
// and equal where q marks the rows of margin below 1. The reduced problem has planes in place of the loss,
//   minimise 1/2 ||w||^2 + max(0, max_k (b_k - <a_k, w>)),
// and its dual, in the shares beta of the planes, is
//   maximise D(beta) = sum_k beta_k b_k - 1/2 ||w||^2,   w = sum_k beta_k a_k,
//   beta >= 0,   sum_k beta_k <= 1.
// Shares make a dual point of the whole problem, q = sum_k beta_k q^k with 0 <= q_i <= 1, of the same value.
//
// It is solved by an active-set method. A plane a = 0, b = 0 has what the others leave of 1, so that shares
// sum to 1. With H = (<a_k, a_l>) and the slopes g = b - H beta, the best shares of the planes in use, but
// for their bounds, are beta + d with
//   sum_l <a_k - a_r, a_l - a_r> d_l = g_k - g_r,   d_r = -(the others' sum),   r one of them.
// The shares move along d, up to that point or to the first bound, where a plane falls out of use. At the
// best point of the planes in use, where their slopes are one number, the plane k of largest slope comes in,
// if that is larger. The way to the next best point is then d_k = 1 and, for the others, minus what makes up
// a_k best. Where a_k depends on them D is linear along it, and ends at a bound: so the planes in use are
// independent, and their equations have digits. Every move raises D, so that no set of planes comes back, and
// there is an end. After one new plane it takes a few moves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/rounding.hpp"
#include "base/state.hpp"
#include "base/symmetric.hpp"
#include "base/threads.hpp"

namespace pegasos {

/// Marks of rows, a bit each.
class RowMarks {
public:
    RowMarks() = default;
    explicit RowMarks(std::size_t n_rows) : words_((n_rows + 63) / 64) {}

    bool operator[](std::size_t i) const { return words_[i / 64] >> (i % 64) & 1; }
    void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
    void state(State& state) { state(words_); }

private:
    std::vector<std::uint64_t> words_;
};

struct Plane {
    std::vector<double> a;
    double b = 0;
    RowMarks errors;
    std::vector<double> q = {};    // in place of marks, of a plane that an earlier run left
    double share = 0;              // beta
    std::uint64_t idle = 0;        // solutions in a row that had no use for it
    std::vector<double> row = {};  // of H

    double at(std::size_t i) const { return q.empty() ? errors[i] : q[i]; }
    void state(State& state) { state(a, b, errors, q, share, idle, row); }
};

class Planes {
public:
    Planes(std::size_t dimension, Team& team, Monitor& monitor)
        : dimension_(dimension), team_(team), monitor_(monitor) {
        Plane zero;
        zero.a.resize(dimension);
        zero.share = 1;
        add(std::move(zero));
    }

    std::size_t size() const { return planes_.size(); }
    double dual() const { return dual_; }
    const std::vector<double>& w() const { return w_; }

    /// A new plane, of share 0.
    void add(Plane plane) {
        plane.row.resize(size());
        team_.run_ranges(size(), [&](std::size_t, std::size_t first, std::size_t last) {
            for (std::size_t k = first; k < last; ++k) {
                plane.row[k] = dot(plane.a, planes_[k].a);
                planes_[k].row.push_back(plane.row[k]);
            }
        });
        plane.row.push_back(squared_norm(plane.a));
        planes_.push_back(std::move(plane));
    }

    /// The best shares, w and D. Planes that have not been of use for long are dropped.
    void solve() {
        find_shares();
        std::vector<double> w(dimension_);
        Sum linear;
        for (Plane& plane : planes_) {
            plane.idle = plane.share > 0 ? 0 : plane.idle + 1;
            linear.add(plane.share * plane.b);
        }
        team_.run_ranges(dimension_, [&](std::size_t, std::size_t first, std::size_t last) {
            for (const Plane& plane : planes_)
                if (plane.share > 0)
                    for (std::size_t j = first; j < last; ++j) w[j] += plane.share * plane.a[j];
        });
        w_ = std::move(w);
        dual_ = linear.value() - squared_norm(w_) / 2;
        drop_idle();
    }

    /// q of the rows [first, last): the planes' mean by their shares.
    void slopes(std::size_t first, std::size_t last, double* q) const {
        std::fill_n(q, last - first, 0.0);
        for (const Plane& plane : planes_)
            if (plane.share > 0 && plane.b > 0)
                for (std::size_t i = first; i < last; ++i) q[i - first] += plane.share * plane.at(i);
        for (std::size_t p = 0; p < last - first; ++p) q[p] = std::clamp(q[p], 0.0, 1.0);
    }

    void state(State& state) { state(planes_, w_, dual_); }

private:
    static constexpr std::uint64_t longest_idle = 50;

    static double dot(const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
        return sum;
    }

    double H(std::size_t k, std::size_t l) const { return planes_[k].row[l]; }

    void find_shares() {
        used_.clear();
        for (std::size_t k = 0; k < size(); ++k)
            if (planes_[k].share > 0) used_.push_back(k);
        bool at_best = false;  // of the planes in use, or as close as rounding lets it come
        for (std::size_t step = 0, most = 100 + 20 * size(); step < most; ++step) {
            find_slopes();
            if (at_best) {
                const std::size_t next = largest_slope();
                if (next == size()) break;
                used_.push_back(next);
                find_way_in();
                if (!move()) break;
                at_best = false;
            } else {
                find_direction();
                at_best = !move();
            }
        }
    }

    /// g, and what rounding may do to it.
    void find_slopes() {
        slopes_.resize(size());
        floor_ = 0;
        for (std::size_t k = 0; k < size(); ++k) {
            double product = 0, terms = planes_[k].b;
            for (const std::size_t l : used_) {
                const double term = H(k, l) * planes_[l].share;
                product += term;
                terms += std::abs(term);
            }
            slopes_[k] = planes_[k].b - product;
            floor_ = std::max(floor_, 8 * unit * terms);
        }
    }

    /// The plane out of use that has a larger slope than those in use, and the largest; size() where there is
    /// none.
    std::size_t largest_slope() const {
        double largest = floor_;
        for (const std::size_t k : used_) largest += planes_[k].share * slopes_[k];
        std::size_t best = size();
        for (std::size_t k = 0; k < size(); ++k)
            if (slopes_[k] > largest && std::find(used_.begin(), used_.end(), k) == used_.end()) {
                largest = slopes_[k];
                best = k;
            }
        return best;
    }

    /// d from the slopes of the planes in use.
    void find_direction() {
        std::swap(used_.front(), *std::max_element(used_.begin(), used_.end(), [&](auto k, auto l) {
                      return planes_[k].share < planes_[l].share;
                  }));
        direction_.assign(used_.size(), 0.0);
        const double first = slopes_[used_.front()];
        solve_equations(used_.size(), [&](std::size_t k) { return slopes_[k] - first; }, 1);
    }

    /// d from the last plane in use, which has no share yet.
    void find_way_in() {
        const std::size_t r = used_.front(), k = used_.back();
        direction_.assign(used_.size(), 0.0);
        direction_.back() = 1;
        direction_.front() = -1;
        solve_equations(
            used_.size() - 1, [&](std::size_t l) { return H(k, l) - H(k, r) - H(l, r) + H(r, r); }, -1);
    }

    /// Adds `sign` times the solution for the first m planes in use to the direction, with the first for r.
    template <class Right>
    void solve_equations(std::size_t m, Right right, double sign) {
        if (m < 2) return;
        const std::size_t r = used_.front();
        SymmetricSolver solver(m - 1, team_, monitor_);
        std::vector<double> b(m - 1), d(m - 1);
        for (std::size_t i = 1; i < m; ++i) {
            b[i - 1] = right(used_[i]);
            for (std::size_t j = i; j < m; ++j)
                solver.matrix()[(i - 1) * solver.stride() + j - 1] =
                    H(used_[i], used_[j]) - H(used_[i], r) - H(used_[j], r) + H(r, r);
        }
        solver.factor();
        solver.solve(b, d);
        for (std::size_t i = 1; i < m; ++i) {
            direction_[i] += sign * d[i - 1];
            direction_[0] -= sign * d[i - 1];
        }
    }

    /// To the best point along the direction, or to the first bound, which then is met exactly; false where D
    /// would not rise by more than rounding.
    bool move() {
        const std::size_t m = used_.size();
        double rise = 0, curvature = 0, terms = 0;
        for (std::size_t i = 0; i < m; ++i) {
            rise += slopes_[used_[i]] * direction_[i];
            for (std::size_t j = 0; j < m; ++j) {
                const double term = direction_[i] * H(used_[i], used_[j]) * direction_[j];
                curvature += term;
                terms += std::abs(term);
            }
        }
        double length =
            curvature > 4 * unit * terms ? rise / curvature : std::numeric_limits<double>::infinity();
        std::size_t first = m;  // to meet its bound; m: none does
        for (std::size_t i = 0; i < m; ++i)
            if (const double share = planes_[used_[i]].share; share + length * direction_[i] <= 0) {
                length = share / -direction_[i];
                first = i;
            }
        if (!(rise * length > floor_)) {
            std::erase_if(used_, [&](std::size_t k) { return planes_[k].share == 0; });
            return false;
        }
        double sum = 0;
        for (std::size_t i = 0; i < m; ++i) {
            double& share = planes_[used_[i]].share;
            share = i == first ? 0 : std::max(share + length * direction_[i], 0.0);
            sum += share;
        }
        for (const std::size_t k : used_) planes_[k].share /= sum;
        std::erase_if(used_, [&](std::size_t k) { return planes_[k].share == 0; });
        return true;
    }

    void drop_idle() {
        std::vector<bool> kept(size());
        for (std::size_t k = 0; k < size(); ++k) kept[k] = k == 0 || planes_[k].idle <= longest_idle;
        if (std::find(kept.begin(), kept.end(), false) == kept.end()) return;
        for (Plane& plane : planes_) {
            std::size_t l = 0;
            std::erase_if(plane.row, [&](double) { return !kept[l++]; });
        }
        std::size_t k = 0;
        std::erase_if(planes_, [&](const Plane&) { return !kept[k++]; });
    }

    const std::size_t dimension_;
    Team& team_;
    Monitor& monitor_;
    std::vector<Plane> planes_;
    std::vector<double> w_;
    double dual_ = 0;
    // Of the moves: which planes are in use, g, d of these, and what rounding may do to g.
    std::vector<std::size_t> used_;
    std::vector<double> slopes_, direction_;
    double floor_ = 0;
};

}  // namespace pegasos
