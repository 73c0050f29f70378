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
// Rows keep q_i, alpha_i = C s_i q_i, and, where wanted, for how many epochs they rest (sdca.cpp has why):
// that is measured against the rows of this part. The intercept is by the method of multipliers
// (multipliers.hpp) with the multiplier b, which whoever has all parts moves; without it, it is the weight of
// a constant feature like any other.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "linear/certificate.hpp"
#include "linear/solvers/solve.hpp"

namespace pegasos {

namespace {

constexpr double longest_rest = 255;  // epochs

/// What an epoch met.
struct Met {
    double gap = 0;
    double linear = 0;           // change of sum dual(alpha)
    double violation = 0;        // sum of squared projected gradients
    std::vector<float> outward;  // by how much the gradient of each row at a bound points out of the box
    bool alive = true;           // the time is not up
};

/// Visits the rows in this order.
template <class Rows, class Loss>
Met visit_rows(const Rows& rows, const Loss& loss, const Problem& problem,
               const std::vector<RowNumber>& order, const LocalOptions& options, double* q, double* w,
               Monitor& monitor) {
    Met met;
    met.outward.resize(order.size());
    float* const outwards = met.outward.data();
    const Multipliers& intercept = options.intercept;
    const double shift = intercept.kappa * options.b, extra = intercept.extra_square();
    const std::size_t last = problem.dimension() - 1;
    const bool cold = std::max(problem.dimension(), options.n_weights) > cached_weights;
    const auto estimates = for_estimates(loss);
    for (std::size_t p = 0; p < order.size(); ++p) {
        prefetch_ahead(rows, order.data(), p, order.size(), q);
        if (cold && p + 2 < order.size()) rows.prefetch_weights(order[p + 2], w);
        const RowNumber i = order[p];
        const double cost = problem.C * problem.weights[i];
        if (cost > 0) {
            const double y = problem.labels[i], sign = loss.sign(y), alpha = cost * q[i];
            const double z = sign * (rows.dot(i, w) + shift + intercept.slope * w[last]);
            const double dual = estimates.dual(alpha, cost, y);
            met.gap += cost * estimates.value(z, y) - dual + alpha * z;
            const auto [projected, outward] = estimates.pull(alpha, cost, z, y);
            outwards[p] = static_cast<float>(outward);
            met.violation += projected * projected;
            if (std::abs(projected) > 1e-14) {
                const double square = options.caution * (rows.squared_norm(i) + extra);
                const double next = loss.ascend(alpha, cost, z, square, y);
                if (next != alpha) {
                    q[i] = loss.clip(next / cost);
                    met.linear += estimates.dual(next, cost, y) - dual;
                    rows.add(i, options.caution * sign * (next - alpha), w);
                }
            }
        }
        if (monitor.worked(rows.entries(i))) {
            met.outward.resize(p + 1);
            met.alive = false;
            break;
        }
    }
    return met;
}

/// Those that do not rest; one epoch of rest is over for the others.
std::vector<RowNumber> awake(const std::vector<RowNumber>& order, std::span<std::uint8_t> rest) {
    if (rest.empty()) return order;
    std::vector<RowNumber> active;
    active.reserve(order.size());
    for (const RowNumber i : order) {
        if (rest[i] > 0)
            --rest[i];
        else
            active.push_back(i);
    }
    return active;
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
    for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
        if (options.sequence.empty()) shuffle(order, random);
        const std::vector<RowNumber> active = awake(order, options.rest);
        Met met;
        problem.rows.visit([&](const auto& rows) {
            problem.loss.visit([&](const auto& loss) {
                met = visit_rows(rows, loss, problem, active, options, q.data(), w, context.monitor);
            });
        });
        report.gap = met.gap;
        report.linear += met.linear;
        report.visits += static_cast<double>(met.outward.size());
        if (!options.rest.empty() && !active.empty()) {
            const double usual = std::sqrt(met.violation / static_cast<double>(met.outward.size()));
            for (std::size_t p = 0; p < met.outward.size(); ++p)
                if (met.outward[p] > 0)
                    options.rest[active[p]] =
                        static_cast<std::uint8_t>(std::min(2 * met.outward[p] / usual, longest_rest));
        }
        if (!met.alive) break;
    }
    return report;
}

Measure measure_part(const Problem& problem, std::span<const double> q, const std::vector<double>& w,
                     std::span<std::uint8_t> rest, Context& context) {
    DualPoint point;
    const auto given = [&](std::size_t first, std::size_t last, const double* z, double* out) {
        problem.loss.visit([&](const auto& loss) {
            for (std::size_t i = first; i < last; ++i) {
                out[i - first] = loss.clip(q[i]);
                if (rest.empty() || rest[i] == 0) continue;
                const double cost = problem.C * problem.weights[i];
                if (cost > 0 && loss.pull(cost * q[i], cost, z[i - first], problem.labels[i]).projected != 0)
                    rest[i] = 0;  // it was too long
            }
        });
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
