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

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "linear/certificate.hpp"
#include "linear/problem.hpp"

namespace pegasos {

struct LocalOptions {
    double caution = 1;
    std::uint64_t epochs = 1;
    std::uint64_t seed = 0;
    std::vector<RowNumber> sequence = {};  // visits instead of random orders, for tests
};

/// What the visits of a part amounted to.
struct Visit {
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
template <class Loss, class Rows>
Visit visit_part(const Loss& loss, const Problem<Rows>& problem, std::span<double> q, double* w,
                 const LocalOptions& options, Context& context) {
    constexpr std::size_t far = 32, near = 16;  // prefetch distances, in rows
    const Rows& rows = problem.rows;
    std::vector<RowNumber> order = options.sequence;
    Random random(options.seed);
    if (order.empty()) {
        order.resize(rows.n_rows);
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<RowNumber>(i);
    }
    Visit report;
    for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
        if (options.sequence.empty()) shuffle(order, random);
        report.gap = 0;
        for (std::size_t p = 0; p < order.size(); ++p) {
            if (p + far < order.size()) {
                rows.prefetch_start(order[p + far]);
                prefetch(&q[order[p + far]]);
            }
            if (p + near < order.size()) rows.prefetch_row(order[p + near]);
            const RowNumber i = order[p];
            const double cost = problem.C * problem.weights[i];
            report.visits += 1;
            if (cost > 0) {
                const double y = problem.labels[i], sign = loss.sign(y), alpha = cost * q[i];
                const double z = sign * rows.dot(i, w);
                report.gap += cost * loss.value(z, y) - loss.dual(alpha, cost, y) + alpha * z;
                if (std::abs(loss.pull(alpha, cost, z, y).projected) > 1e-14) {
                    const double square = options.caution * rows.squared_norm(i);
                    const double next = loss.ascend(alpha, cost, z, square, y);
                    if (next != alpha) {
                        q[i] = loss.clip(next / cost);
                        report.linear += loss.dual(next, cost, y) - loss.dual(alpha, cost, y);
                        rows.add(i, options.caution * sign * (next - alpha), w);
                    }
                }
            }
            if (context.monitor.worked(rows.entries(i))) return report;
        }
    }
    return report;
}

template <class Loss, class Rows>
Measure measure_part(const Loss& loss, const Problem<Rows>& problem, std::span<const double> q,
                     const std::vector<double>& w, Context& context) {
    DualPoint point;
    const Bound primal = evaluate(loss, problem, w, context.team, context.monitor, point,
                                  [&](std::size_t i, double) { return loss.clip(q[i]); });
    return {primal.value - primal.rounding - squared_norm(w) / 2,
            point.linear,
            std::move(point.u),
            primal.rounding,
            point.linear_error,
            point.error};
}

}  // namespace pegasos
