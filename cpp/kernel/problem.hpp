// The dual problem of a kernel machine, in one form for classification and regression.
//
// Variables beta_v, each with the example it belongs to, i(v), a target t_v and bounds lo_v <= 0 <= hi_v:
//
//     maximise  D(beta) = sum_v t_v beta_v - 1/2 sum_vw beta_v beta_w K(x_i(v), x_i(w)),
//
// with a free intercept subject to sum_v beta_v = 0. Hinge loss: one variable per example, t = y, and
// y beta in [0, C s]. Epsilon-insensitive loss: two per example, t = y - epsilon with beta in [0, C s], and
// t = y + epsilon with beta in [-C s, 0]. Quantile loss: one per example, t = y, and beta in
// [-(1 - quantile) C s, quantile C s].
//
// f_i = sum_v beta_v K(x_i, x_i(v)) is the response of an example, u_v = t_v - f_i(v) the slope of D in
// beta_v. The machine's decision is f + b, and its primal value
//
//     P = 1/2 sum_v beta_v f_i(v) + sum_v loss_v,   loss_v = hi_v max(0, u_v - b) + lo_v min(0, u_v - b).
//
// P - D = sum_v (loss_v - beta_v (u_v - b)), where each term is at least 0 and tells how far its variable is
// from what it should be. The b that minimises P is a weighted quantile of the u_v (best_intercept.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/best_intercept.hpp"
#include "base/bounds.hpp"
#include "base/sampling.hpp"

namespace pegasos {

struct KernelProblem {
    std::size_t n_rows;
    bool free_intercept;
    std::vector<RowNumber> row;  // i(v)
    std::vector<double> t, lo, hi;

    std::size_t size() const { return row.size(); }
    double most(std::size_t v) const { return hi[v] - lo[v]; }
    double loss(std::size_t v, double slope) const {
        return hi[v] * std::max(slope, 0.0) + lo[v] * std::min(slope, 0.0);
    }
};

/// The intercept that minimises the primal value; 0 without one.
inline double best_intercept_of(const KernelProblem& problem, const std::vector<double>& f) {
    if (!problem.free_intercept) return 0;
    std::vector<Kink> kinks;
    kinks.reserve(problem.size());
    for (std::size_t v = 0; v < problem.size(); ++v) {
        const double at = problem.t[v] - f[problem.row[v]];
        if (problem.hi[v] > 0) kinks.push_back({at, problem.hi[v]});
        if (problem.lo[v] < 0) kinks.push_back({at, problem.lo[v]});
    }
    std::vector<Kink> left = kinks;
    const BestIntercept found = best_intercept(left);
    if (found.exists) return found.b;
    // All on one side: any b beyond the last kink does without a loss.
    double b = 0;
    bool any = false;
    for (const Kink& kink : kinks) {
        if (kink.signed_weight == 0) continue;
        b = !any ? kink.at : kink.signed_weight > 0 ? std::max(b, kink.at) : std::min(b, kink.at);
        any = true;
    }
    return b;
}

struct KernelBounds {
    Bounds bounds;
    Bounds plain;  // without an allowance for rounding: what steers a solver
    double b = 0;
    double squared_norm = 0;  // of w
};

/// Bounds at beta, given its responses, of which that of example i is off by at most error(i). Slopes are off
/// by what rounding of their terms adds, and the bounds by what all that may do to them. Where the variables
/// do not sum to zero as a free intercept asks, the dual value allows for a change that makes them; no value
/// of the kernel is above `largest`.
template <class Error>
KernelBounds bounds_of(const KernelProblem& problem, const std::vector<double>& beta,
                       const std::vector<double>& f, double b, double largest, Error error) {
    constexpr double u = unit;
    Sum squared_norm, linear, loss, total;
    double size = 0, above = 0, below = 0, steepest = 0;
    // Of sums of products, one for each variable: what underflow may have taken from them.
    const bool moved = std::any_of(beta.begin(), beta.end(), [](double x) { return x != 0; });
    const double lost = 16 * least * static_cast<double>(problem.size() + 1);
    double vanished = lost;
    bool costs = moved;  // something, or may
    for (std::size_t v = 0; v < problem.size(); ++v) {
        const std::size_t i = problem.row[v];
        const double response = moved ? f[i] : 0, slope = problem.t[v] - response - b;
        if (beta[v] != 0) {
            squared_norm.add(beta[v] * response);
            linear.add(beta[v] * problem.t[v]);
            total.add(beta[v]);
            below += std::abs(beta[v]) * error(i);
            size += std::abs(beta[v]) * (std::abs(response) + std::abs(problem.t[v]));
        }
        const double own = problem.loss(v, slope);
        // Without support vectors responses are zero, and of the targets only those less epsilon are rounded.
        const double off =
            moved
                ? error(i) + 4 * u * (std::abs(problem.t[v]) + std::abs(response) + std::abs(b)) + lost
                : 4 * u * (std::abs(slope) + (problem.size() > problem.n_rows ? std::abs(problem.t[v]) : 0));
        loss.add(own);
        above += std::max(problem.loss(v, slope + off), problem.loss(v, slope - off)) - own;
        if (slope > 0 ? problem.hi[v] > 0 : slope < 0 && problem.lo[v] < 0) {
            costs = true;
            vanished += 2 * least * (std::abs(slope) + off);  // of the bound itself, C s
        }
        steepest = std::max(steepest, std::abs(slope));
    }
    const double primal = squared_norm.value() / 2 + loss.value();
    const double dual = linear.value() - squared_norm.value() / 2;
    above += below / 2 + 4 * u * (size + std::abs(primal));
    below = below / 2 + 4 * u * size;
    if (const double missing = std::abs(total.value()); problem.free_intercept && missing > 0) {
        below += missing * (steepest + missing * largest);
    }
    const double sums = 1 + 2 * u * static_cast<double>(problem.size());  // of the allowances themselves
    above *= sums;
    below *= sums;
    if (costs) {
        above += vanished;
        below += vanished;
    }
    return {{primal + above, dual - below, above, below}, {primal, dual}, b, squared_norm.value()};
}

/// Makes variables that should sum to zero do so, exactly: they are cut off at multiples of a number so large
/// that sums of these have no rounding, and what is left over is taken off the largest of the heavier sign.
/// Returns the sum of the changes, without their signs.
inline double settle(const KernelProblem& problem, std::vector<double>& beta) {
    if (!problem.free_intercept) return 0;
    double size = 0;
    for (const double own : beta) size += std::abs(own);
    if (!(size > 0) || !std::isfinite(size)) return 0;
    int exponent = 0;
    std::frexp(size, &exponent);
    const double grid = std::ldexp(1.0, std::max(exponent - 51, -1074));
    double sum = 0, changed = 0;
    for (double& own : beta) {
        const double cut = std::trunc(own / grid) * grid;
        changed += std::abs(own - cut);
        own = cut;
        sum += cut;
    }
    while (sum != 0) {
        const double sign = sum > 0 ? 1 : -1;
        const auto largest = std::max_element(beta.begin(), beta.end(),
                                              [&](double a, double c) { return sign * a < sign * c; });
        const double taken = std::min(sign * *largest, sign * sum);
        *largest -= sign * taken;
        sum -= sign * taken;
        changed += taken;
    }
    return changed;
}

}  // namespace pegasos
