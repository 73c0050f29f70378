// The dual problem of a kernel machine, in one form for classification and regression.
//
// Variables beta_v, each with the example it belongs to, i(v), a target t_v and bounds lo_v <= 0 <= hi_v, one
// of which is zero but in parts of a problem (solvers/smo_parts.hpp):
//
//     maximise  D(beta) = sum_v t_v beta_v - 1/2 sum_vw beta_v beta_w K(x_i(v), x_i(w)),
//
// with a free intercept subject to sum_v beta_v = 0. Hinge loss: one variable per example, t = y, and
// y beta in [0, C s]. Epsilon-insensitive loss: two per example, t = y - epsilon with beta in [0, C s], and
// t = y + epsilon with beta in [-C s, 0].
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
#include <cstddef>
#include <limits>
#include <vector>

#include "best_intercept.hpp"
#include "certificate.hpp"
#include "sampling.hpp"

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
    double b = 0;
    double squared_norm = 0;  // of w
};

/// Primal and dual value at beta, given its responses.
inline KernelBounds bounds_of(const KernelProblem& problem, const std::vector<double>& beta,
                              const std::vector<double>& f) {
    const double b = best_intercept_of(problem, f);
    Sum squared_norm, linear, loss;
    for (std::size_t v = 0; v < problem.size(); ++v) {
        const double response = f[problem.row[v]];
        if (beta[v] != 0) {
            squared_norm.add(beta[v] * response);
            linear.add(beta[v] * problem.t[v]);
        }
        loss.add(problem.loss(v, problem.t[v] - response - b));
    }
    return {{squared_norm.value() / 2 + loss.value(), linear.value() - squared_norm.value() / 2},
            b,
            squared_norm.value()};
}

}  // namespace pegasos
