// Sequential minimal optimisation of a small problem whose kernel matrix is at hand (problem.hpp has
// the symbols).
//
// With a free intercept a step moves a pair, beta_i + delta and beta_j - delta. i is the variable that may
// grow with the largest slope; j, of those that may shrink, the one whose pair with i gains most, by the
// second-order estimate (u_i - u_j)^2 / (K_ii + K_jj - 2 K_ij) (Fan, Chen, Lin, 2005). Without an intercept a
// step moves the one variable that gains most. Either step is exact, up to the bounds.
//
// The matrix may be larger than the caches, so a step makes two passes over vectors and no more: the slopes
// change, and the largest of each stretch is found on the way; the gains with i are looked through. Slopes
// are in the precision of the matrix; whoever calls knows them better from the steps made.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "base/aligned.hpp"
#include "base/pages.hpp"
#include "base/symmetric.hpp"

namespace pegasos {

/// Some of the variables of a problem, the others fixed.
template <class Real>
class DenseProblem {
public:
    using Reals = AlignedVector<Real>;

    /// Room for m variables; their kernel matrix follows.
    void resize(std::size_t m) {
        set_size(m);
        if (m * padded_ > room_) {
            room_ = std::max(m * padded_, room_ + room_ / 2);  // what is not used is not touched
            own_.reset();                                      // before there are both
            own_ = take_pages<Real>(room_);
            if (!own_) {
                room_ = 0;
                throw std::bad_alloc();
            }
        }
        K_ = own_.get();
        for (std::size_t k = 0; k < m; ++k) std::fill(row(k) + m, row(k) + padded_, Real{0});
    }
    /// The same variables as those of another problem, and its matrix as long as that stays.
    void resize_like(DenseProblem& other) {
        set_size(other.size_);
        K_ = other.K_;
    }
    std::size_t size() const { return size_; }
    /// A whole number of cache lines, the rest of which cannot move.
    std::size_t padded() const { return padded_; }
    Real* matrix() { return K_; }
    Real* row(std::size_t i) { return K_ + i * padded_; }
    const Real* row(std::size_t i) const { return K_ + i * padded_; }

    void set(std::size_t k, double value, double lo, double hi, double slope) {
        beta[k] = value;
        u[k] = static_cast<Real>(slope);
        up[k] = static_cast<Real>(hi - value);
        down[k] = static_cast<Real>(value - lo);
        diagonal[k] = row(k)[k];
    }
    bool inside(std::size_t k) const { return up[k] > 0 && down[k] > 0; }
    /// Changes a variable, to its bound exactly where it gets there; slopes are left as they are.
    void move(std::size_t k, double by) {
        const Real change = static_cast<Real>(by);
        beta[k] += by;
        up[k] = change >= up[k] ? Real{0} : up[k] - change;
        down[k] = -change >= down[k] ? Real{0} : down[k] + change;
    }

    std::vector<double> beta;
    Reals u, up, down;  // slopes, and how far a variable is from its bounds
    Reals diagonal;

private:
    void set_size(std::size_t m) {
        size_ = m;
        padded_ = (m + 63) / 64 * 64;
        beta.resize(m);
        for (auto* vector : {&u, &up, &down, &diagonal}) vector->assign(padded_, Real{0});
    }

    std::size_t size_ = 0, padded_ = 0, room_ = 0;
    Pages<Real> own_;
    Real* K_ = nullptr;
};

template <class Real>
class DenseSmo {
public:
    explicit DenseSmo(bool pairs) : pairs_(pairs) {}

    /// Steps until the violation is at most `share` of that at the start, or nothing moves; returns how many.
    std::uint64_t run(DenseProblem<Real>& p, double share, std::uint64_t most_steps) {
        const std::size_t stretches = (p.padded() + stretch - 1) / stretch;
        best_.assign(stretches, Real{0});
        least_.assign(stretches, Real{0});
        return pairs_ ? run_pairs(p, share, most_steps) : run_single(p, share, most_steps);
    }

private:
    static constexpr std::size_t stretch = 256;  // the last one may be shorter
    static constexpr Real infinity = std::numeric_limits<Real>::infinity(), tiny = Real(1e-12);

    std::uint64_t run_pairs(DenseProblem<Real>& p, double share, std::uint64_t most_steps) {
        std::uint64_t steps = 0;
        Real goal = -1;
        add(p, Real{0}, p.row(0), p.row(0));
        for (; steps < most_steps; ++steps) {
            const auto most =
                static_cast<std::size_t>(std::max_element(best_.begin(), best_.end()) - best_.begin());
            const Real top = best_[most], bottom = *std::min_element(least_.begin(), least_.end());
            if (goal < 0) goal = static_cast<Real>(share) * std::max(top - bottom, Real{0});
            if (!(top - bottom > goal)) break;
            std::size_t i = most * stretch;
            while (!(p.up[i] > 0 && p.u[i] == top)) ++i;
            const std::size_t j = partner(p, i);
            if (j == p.padded()) break;
            const Real *a = p.row(i), *c = p.row(j);
            const double curvature =
                std::max(static_cast<double>(a[i]) + c[j] - 2 * static_cast<double>(a[j]), double{tiny});
            const Real delta = static_cast<Real>(std::min(
                {static_cast<double>(p.u[i] - p.u[j]) / curvature, double{p.up[i]}, double{p.down[j]}}));
            if (!(delta > 0)) break;
            p.move(i, delta);
            p.move(j, -delta);
            add(p, delta, a, c);
        }
        return steps;
    }

    std::uint64_t run_single(DenseProblem<Real>& p, double share, std::uint64_t most_steps) {
        std::uint64_t steps = 0;
        Real goal = -1;
        for (; steps < most_steps; ++steps) {
            const std::size_t i = best_single(p);
            if (i == p.padded()) break;
            const Real violation = std::abs(p.u[i]);
            if (goal < 0) goal = static_cast<Real>(share) * violation;
            if (steps > 0 && !(violation > goal)) break;
            const Real delta = step_of(p, i);
            if (delta == 0) break;
            p.move(i, delta);
            add(p, delta, p.row(i), nullptr);
        }
        return steps;
    }

    static Real step_of(const DenseProblem<Real>& p, std::size_t k) {
        const Real step = p.u[k] / std::max(p.diagonal[k], tiny);
        return std::min(std::max(step, -p.down[k]), p.up[k]);
    }

    /// Slopes after beta_i + delta and, where c is given, beta_j - delta. Of each stretch, the largest slope
    /// of a variable that may grow, and the smallest of one that may shrink.
    void add(DenseProblem<Real>& p, Real delta, const Real* a, const Real* c) {
        Real* __restrict u = p.u.data();
        const Real *up = p.up.data(), *down = p.down.data();
        if (!c) {
#pragma omp simd
            for (std::size_t k = 0; k < p.padded(); ++k) u[k] -= delta * a[k];
            return;
        }
        for (std::size_t first = 0, s = 0; first < p.padded(); first += stretch, ++s) {
            Real top = -infinity, bottom = infinity;
            const std::size_t last = std::min(first + stretch, p.padded());
#pragma omp simd reduction(max : top) reduction(min : bottom)
            for (std::size_t k = first; k < last; ++k) {
                const Real slope = u[k] - delta * (a[k] - c[k]);
                u[k] = slope;
                const Real grows = up[k] > 0 ? slope : -infinity, shrinks = down[k] > 0 ? slope : infinity;
                top = grows > top ? grows : top;
                bottom = shrinks < bottom ? shrinks : bottom;
            }
            best_[s] = top;
            least_[s] = bottom;
        }
    }

    /// value(k) at its largest, over all k; `padded` where it is nowhere above zero.
    template <class Value>
    std::size_t argmax(const DenseProblem<Real>& p, Value value) {
        std::size_t where = 0;
        Real best = 0;
        for (std::size_t first = 0; first < p.padded(); first += stretch) {
            Real most = 0;
            const std::size_t last = std::min(first + stretch, p.padded());
#pragma omp simd reduction(max : most)
            for (std::size_t k = first; k < last; ++k) {
                const Real own = value(k);
                most = own > most ? own : most;
            }
            if (most > best) {
                best = most;
                where = first;
            }
        }
        if (!(best > 0)) return p.padded();
        std::size_t k = where;
        while (k < p.padded() - 1 && !(value(k) >= best)) ++k;
        return k;
    }

    /// Of the variables that may shrink, the one whose pair with i gains most.
    std::size_t partner(const DenseProblem<Real>& p, std::size_t i) {
        const Real own = p.diagonal[i], top = p.u[i];
        const Real *row = p.row(i), *u = p.u.data(), *down = p.down.data(), *diagonal = p.diagonal.data();
        return argmax(p, [=](std::size_t k) {
            const Real difference = top - u[k], curvature = own + diagonal[k] - 2 * row[k];
            const Real gain = difference * difference / (curvature > tiny ? curvature : tiny);
            return down[k] > 0 && difference > 0 ? gain : Real{0};
        });
    }

    std::size_t best_single(const DenseProblem<Real>& p) {
        const Real *u = p.u.data(), *up = p.up.data(), *down = p.down.data(), *diagonal = p.diagonal.data();
        return argmax(p, [=](std::size_t k) {
            const Real curvature = diagonal[k] > tiny ? diagonal[k] : tiny;
            Real step = u[k] / curvature;
            step = step > -down[k] ? step : -down[k];
            step = step < up[k] ? step : up[k];
            return step * (u[k] - Real(0.5) * curvature * step);
        });
    }

    const bool pairs_;
    std::vector<Real> best_, least_;
};

}  // namespace pegasos
