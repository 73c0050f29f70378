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
#include <cmath>
#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "linear/certificate.hpp"
#include "linear/solvers/solve.hpp"

namespace pegasos {

namespace {

/// Visits the rows in this order; false when the time is up.
template <class Rows, class Loss>
bool visit_rows(const Rows& rows, const Loss& loss, const Problem& problem,
                const std::vector<RowNumber>& order, double caution, double* q, double* w, PartVisits& report,
                Monitor& monitor) {
    for (std::size_t p = 0; p < order.size(); ++p) {
        prefetch_ahead(rows, order.data(), p, order.size(), q);
        const RowNumber i = order[p];
        const double cost = problem.C * problem.weights[i];
        report.visits += 1;
        if (cost > 0) {
            const double y = problem.labels[i], sign = loss.sign(y), alpha = cost * q[i];
            const double z = sign * rows.dot(i, w);
            report.gap += cost * loss.value(z, y) - loss.dual(alpha, cost, y) + alpha * z;
            if (std::abs(loss.pull(alpha, cost, z, y).projected) > 1e-14) {
                const double next = loss.ascend(alpha, cost, z, caution * rows.squared_norm(i), y);
                if (next != alpha) {
                    q[i] = loss.clip(next / cost);
                    report.linear += loss.dual(next, cost, y) - loss.dual(alpha, cost, y);
                    rows.add(i, caution * sign * (next - alpha), w);
                }
            }
        }
        if (monitor.worked(rows.entries(i))) return false;
    }
    return true;
}

}  // namespace

PartVisits visit_part(const Problem& problem, std::span<double> q, double* w, const LocalOptions& options,
                      Context& context) {
    std::vector<RowNumber> order = options.sequence;
    Random random(options.seed);
    if (order.empty()) {
        order.resize(problem.n_rows());
        std::iota(order.begin(), order.end(), RowNumber{0});
    }
    PartVisits report;
    bool alive = true;
    for (std::uint64_t epoch = 0; epoch < options.epochs && alive; ++epoch) {
        if (options.sequence.empty()) shuffle(order, random);
        report.gap = 0;
        problem.rows.visit([&](const auto& rows) {
            problem.loss.visit([&](const auto& loss) {
                alive = visit_rows(rows, loss, problem, order, options.caution, q.data(), w, report,
                                   context.monitor);
            });
        });
    }
    return report;
}

Measure measure_part(const Problem& problem, std::span<const double> q, const std::vector<double>& w,
                     Context& context) {
    DualPoint point;
    const auto given = [&](std::size_t first, std::size_t last, const double*, double* out) {
        for (std::size_t i = first; i < last; ++i) out[i - first] = problem.loss.clip(q[i]);
    };
    const Bound primal = LinearPass(problem, w, context).make(point, given);
    return {primal.value - primal.rounding - squared_norm(w) / 2,
            point.linear,
            std::move(point.u),
            primal.rounding,
            point.linear_error,
            point.error};
}

}  // namespace pegasos
