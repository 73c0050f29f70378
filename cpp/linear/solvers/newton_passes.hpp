// What Newton's method on one column of weights has in common with that on all classes jointly: iterations,
// conjugate gradients, the step and its search, checks. newton.cpp has the symbols.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/checks.hpp"
#include "base/rounding.hpp"
#include "linear/solvers/solve.hpp"

namespace pegasos {

class NewtonPasses {
protected:
    /// m, the share of a parabola above the loss in H: at first, at least, and at least after a step that was
    /// cut short.
    struct Shares {
        double first, least, after_cut;
    };

    /// Of so many weights, of which the first `n_penalized` are in the norm.
    NewtonPasses(std::size_t n_weights, std::size_t n_penalized, const Shares& shares,
                 const NewtonOptions& options, Context& context)
        : options_(options),
          context_(context),
          shares_(shares),
          d_(n_weights),
          n_penalized_(n_penalized),
          w_(n_weights),
          g_(n_weights),
          direction_(n_weights),
          aim_(options.goal > 0 ? std::min(options.goal, options.tol) : options.tol),
          checks_(aim_, 1, 16, false) {}
    ~NewtonPasses() = default;

    /// From w on; where another run ended may do as it is.
    Solution run(bool continued, std::uint64_t start_t) {
        Solution solution;
        const auto state = [&](State& state) {
            state(solution, checks_, w_, share_, smallest_, lowest_, idle_, iterations_);
        };
        context_.resume(state);
        evaluate();
        until_ended(solution, [&] {
            for (bool steps = !continued || checks_.begun();; steps = true) {
                context_.offer(state);
                context_.monitor.at_epoch(static_cast<double>(iterations_));
                if (steps) {
                    find_direction();
                    take_step();
                    ++iterations_;
                }
                const double gap = gap_of(g_);
                const bool out_of_time = context_.monitor.look(), stuck = is_stuck(gap),
                           last = out_of_time || stuck || iterations_ >= options_.max_iterations;
                checks_.met(gap);
                if (last || checks_.due(value_ - gap)) {
                    const Bounds now = check(solution);
                    if (!solution.reason.empty() || solution.ends(options_.tol, out_of_time, last, stuck))
                        break;
                    checks_.found(now.primal - now.dual);
                }
            }
        });
        solution.finish(context_, static_cast<double>(iterations_), iterations_, start_t);
        return solution;
    }

    /// F and g at w, and what the next direction needs.
    virtual void evaluate() = 0;
    /// out = H v
    virtual void multiply(const std::vector<double>& v, std::vector<double>& out) = 0;
    /// out = the diagonal of H
    virtual void find_diagonal(std::vector<double>& out) = 0;
    /// The direction at w.
    virtual void find_direction() { conjugate_gradients(); }
    /// The slope of F along the direction, at from + t direction.
    virtual double slope_at(double t, const std::vector<double>& from) {
        move(from, t);
        evaluate();
        return dot(g_, direction_);
    }
    /// A step from here on may need `slope_at`.
    virtual void remember() {}
    /// The gap, where the gradient is g.
    virtual double gap_of(const std::vector<double>& g) const { return squared_norm(g, n_penalized_) / 2; }
    /// Bounds now, for the solution to take what is better.
    virtual Bounds check(Solution& solution) = 0;

    void conjugate_gradients() {
        std::vector<double> inverse(d_), r(d_), s(d_), p(d_), Hp(d_);
        find_diagonal(inverse);
        for (double& x : inverse) x = x > 0 ? 1 / x : 0;
        std::fill(direction_.begin(), direction_.end(), 0.0);
        double size = 0;  // r' M^-1 r
        for (std::size_t j = 0; j < d_; ++j) {
            r[j] = -g_[j];
            p[j] = s[j] = inverse[j] * r[j];
            size += r[j] * s[j];
        }
        const double gap = gap_of(g_), eta = std::min(0.3, std::sqrt(std::sqrt(gap / value_)));
        const double small = eta * eta * size, goal = aim_ * std::max(value_ - gap, 0.0) / 4;
        for (std::size_t step = 0; size > small && step < 10 + 2 * d_; ++step) {
            multiply(p, Hp);
            double along = 0;
            for (std::size_t j = 0; j < d_; ++j) along += p[j] * Hp[j];
            if (!(along > 0)) break;
            const double k = size / along;
            for (std::size_t j = 0; j < d_; ++j) {
                direction_[j] += k * p[j];
                r[j] -= k * Hp[j];
            }
            if (gap_of(r) <= goal || context_.monitor.timed_out()) break;
            double next = 0;
            for (std::size_t j = 0; j < d_; ++j) {
                s[j] = inverse[j] * r[j];
                next += r[j] * s[j];
            }
            for (std::size_t j = 0; j < d_; ++j) p[j] = s[j] + next / size * p[j];
            size = next;
        }
    }

    static double dot(const std::vector<double>& a, const std::vector<double>& b) {
        Sum sum;
        for (std::size_t j = 0; j < a.size(); ++j) sum.add(a[j] * b[j]);
        return sum.value();
    }

    const NewtonOptions options_;
    Context& context_;
    const Shares shares_;
    const std::size_t d_, n_penalized_;
    std::vector<double> w_, g_, direction_;
    double value_ = 0;              // F(w)
    double share_ = shares_.first;  // m
    std::uint64_t iterations_ = 0;

private:
    static constexpr double enough = 0.1;         // of the slope's promise that a step has to keep
    static constexpr std::uint64_t patience = 5;  // iterations in which neither F nor the gap falls

    void move(const std::vector<double>& from, double t) {
        for (std::size_t j = 0; j < d_; ++j) w_[j] = from[j] + t * direction_[j];
    }

    void take_step() {
        const double promised = dot(g_, direction_), before = value_;
        if (!std::isfinite(promised)) return give_up();
        const std::vector<double> from = w_;
        remember();
        move(from, 1);
        evaluate();
        const double ended = dot(g_, direction_);
        const bool kept = value_ <= before + enough * promised + 64 * unit * before;
        if (!kept && ended > 0 && promised < 0) {
            move(from, search(from, promised, ended));
            evaluate();
            share_ = std::min(1.0, std::max(10 * share_, shares_.after_cut));
        } else if (before - value_ >= -0.25 * promised) {
            share_ = std::max(shares_.least, share_ / 10);
        }
        if (std::isfinite(value_) && std::isfinite(squared_norm(g_))) return;
        w_ = from;
        evaluate();
        give_up();
    }

    /// The numbers are too large for another step.
    void give_up() { idle_ = patience; }

    /// Where the slope along the line is about zero and not above, so that F falls all the way there; between
    /// 0, where the slope is `low` < 0, and 1, where it is `high` > 0. By the rule of false position, with
    /// the Illinois halving of an end that stays.
    double search(const std::vector<double>& from, double low, double high) {
        const double goal = enough * -low;
        double left = 0, right = 1;
        for (int side = 0, times = 0; times < 40; ++times) {
            const double t = (left * high - right * low) / (high - low), slope = slope_at(t, from);
            if (slope <= 0) {
                left = t, low = slope;
                if (-slope <= goal) break;
                if (side < 0) high /= 2;
                side = -1;
            } else {
                right = t, high = slope;
                if (side > 0) low /= 2;
                side = 1;
            }
        }
        return left;
    }

    /// Whether rounding is all that moves F and the gap.
    bool is_stuck(double gap) {
        if (idle_ >= patience) return true;
        idle_ = gap < smallest_ / 2 || value_ < lowest_ - 64 * unit * lowest_ ? 0 : idle_ + 1;
        smallest_ = std::min(smallest_, gap);
        lowest_ = std::min(lowest_, value_);
        return idle_ >= patience;
    }

    const double aim_;  // the gap at which a check is made
    Checks checks_;
    double smallest_ = std::numeric_limits<double>::infinity(), lowest_ = smallest_;  // gap and F so far
    std::uint64_t idle_ = 0;
};

}  // namespace pegasos
