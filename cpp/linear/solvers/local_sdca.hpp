// Dual coordinate ascent on a part of the rows of a problem, for one who keeps the others elsewhere: on disk,
// or on other machines.
//
// The dual of the whole is sum_i dual(alpha_i, C s_i) - 1/2 ||w||^2, where w = sum_i alpha_i y_i x_i is over
// all rows. Whoever holds a part changes its alphas alone, to maximise
//     sum_{i in part} dual(alpha_i, C s_i) - <w, d> - sigma/2 ||d||^2,    d = what the changes of alpha_i y_i
//     x_i sum to,
// by exact steps along single coordinates, each row once an epoch. sigma ("caution") is 1 where nobody else
// changes w meanwhile: blocks of rows that are taken one after the other. Where K parts are worked on at a
// time and all their d are then added to w, sigma = K never makes the dual fall (Ma and others: CoCoA+).
//
// Rows keep nothing but q_i, alpha_i = C s_i q_i. The intercept is the weight of a constant feature like any
// other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "linear/problem.hpp"

namespace pegasos {

struct LocalOptions {
    double caution = 1;
    std::uint64_t epochs = 1;
    std::uint64_t seed = 0;
    std::vector<RowNumber> sequence = {};  // visits instead of random orders, for tests
};

/// What the visits of a part amounted to.
struct PartVisits {
    double linear = 0;  // change of sum dual(alpha_i, C s_i)
    double gap = 0;     // of the rows, from the margins met in the last epoch
    double visits = 0;
};

/// Bounds from a part of the rows: the whole has their sums.
struct Measure {
    double losses;          // C sum s loss
    double linear;          // sum dual(alpha, C s)
    std::vector<double> u;  // sum alpha y x
    // What rounding may add to the losses and the half squared norm of w, take off `linear`, and add to u in
    // norm.
    double above, linear_error, error;
};

/// Changes q, and adds caution times d to w.
PartVisits visit_part(const Problem& problem, std::span<double> q, double* w, const LocalOptions& options,
                      Context& context);

Measure measure_part(const Problem& problem, std::span<const double> q, const std::vector<double>& w,
                     Context& context);

}  // namespace pegasos
