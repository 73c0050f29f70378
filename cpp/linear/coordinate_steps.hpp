// The visits of dual coordinate ascent: the one loop over rows that every holder of rows runs, whether they
// are in memory, in blocks from disk or on a worker.
//
//   visit row i:  z = y_i <w, x_i>,   alpha_i <- the best one,   w <- w + (change) y_i x_i
//   (hinge: alpha_i <- clamp(alpha_i + (1 - z) / ||x_i||^2); regression has 1 in place of the signs y_i)
//
// `caution` counts every change as often as others may make the same one at the time: 1 where nobody else
// changes w. The steps are those of the problem whose w has `caution` times the changes (Ma and others:
// CoCoA+).
//
// A holder keeps the dual variables as it likes: a template argument says how. `InCoordinates` has what a
// visit reads of a row in one cache line; `InShares` has 8 bytes a row, for rows whose other numbers come and
// go.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "base/multipliers.hpp"
#include "base/sampling.hpp"
#include "linear/problem.hpp"

namespace pegasos {

/// What visits amounted to.
struct Steps {
    double linear = 0;     // change of sum dual(alpha)
    double gap = 0;        // of the rows, from the margins at their visits
    double count = 0;      // visits
    double violation = 0;  // sum of squared projected gradients

    void add(const Steps& other) {
        linear += other.linear;
        gap += other.gap;
        count += other.count;
        violation += other.violation;
    }
    /// The usual gradient, by which rests are measured.
    double usual() const { return std::sqrt(violation / count); }
};

/// A row as a visit needs it.
struct Coordinate {
    double alpha;
    double signed_cost;  // y_i C s_i
    double square;       // ||x_i||^2, and what the intercept adds

    double cost() const { return std::abs(signed_cost); }
    double sign() const { return std::copysign(1.0, signed_cost); }
};

/// Dual variables of rows that stay in memory.
class InCoordinates {
public:
    explicit InCoordinates(Coordinate* rows) : rows_(rows) {}

    const Coordinate* memory() const { return rows_; }
    template <class Loss, class Rows>
    Coordinate at(const Loss&, const Rows&, std::size_t i) const {
        return rows_[i];
    }
    template <class Loss>
    void set(const Loss&, std::size_t i, const Coordinate&, double alpha) {
        rows_[i].alpha = alpha;
    }

private:
    Coordinate* rows_;
};

/// Dual variables q_i = alpha_i / (C s_i), the rest taken from the problem.
class InShares {
public:
    InShares(const Problem& problem, double* q, double extra_square)
        : problem_(problem), q_(q), extra_(extra_square) {}

    const double* memory() const { return q_; }
    template <class Loss, class Rows>
    Coordinate at(const Loss& loss, const Rows& rows, std::size_t i) const {
        const double cost = problem_.C * problem_.weights[i];
        return {cost * q_[i], loss.sign(problem_.labels[i]) * cost, rows.squared_norm(i) + extra_};
    }
    template <class Loss>
    void set(const Loss& loss, std::size_t i, const Coordinate& row, double alpha) {
        q_[i] = loss.clip(alpha / row.cost());
    }

private:
    const Problem& problem_;
    double* q_;
    double extra_;
};

/// Margins are <w, x> + shift + slope times the last entry of w: of the intercept (multipliers.hpp).
struct Margin {
    double shift = 0, slope = 0;

    Margin() = default;
    Margin(const Multipliers& multipliers, double b)
        : shift(multipliers.kappa * b), slope(multipliers.slope) {}
};

/// Visits the rows order[first, last) and changes their dual variables and w. `outward[p]` is by how much the
/// gradient of row order[p] at a bound points out of the box. `cold`: w is not in the caches. Before a row's
/// alpha changes there is a call changing(i, alpha), after each visit worked(entries), which ends it if true.
template <class Rows, class Loss, class Duals, class Changing, class Worked>
Steps visit_rows(const Rows& rows, const Loss& loss, Duals duals, std::span<const double> labels,
                 std::span<const RowNumber> order, std::size_t first, std::size_t last, const Margin& margin,
                 double caution, bool cold, double* w, std::size_t sigma, float* outward, Changing changing,
                 Worked worked) {
    Steps steps;
    const std::size_t end = order.size();
    const auto estimates = for_estimates(loss);
    for (std::size_t p = first; p < last; ++p) {
        prefetch_ahead(rows, order.data(), p, end, duals.memory());
        if (cold && p + 2 < end) rows.prefetch_weights(order[p + 2], w);
        const RowNumber i = order[p];
        const Coordinate row = duals.at(loss, rows, i);
        const double sign = row.sign(), cost = row.cost(), alpha = row.alpha,
                     y = Loss::regression ? labels[i] : sign;
        outward[p] = 0;
        if (cost > 0) {
            const double z = sign * (rows.dot(i, w) + margin.shift + margin.slope * w[sigma]);
            const double dual = estimates.dual(alpha, cost, y);
            steps.gap += cost * estimates.value(z, y) - dual + alpha * z;
            const auto [projected, out] = estimates.pull(alpha, cost, z, y);
            outward[p] = static_cast<float>(out);
            steps.violation += projected * projected;
            if (std::abs(projected) > 1e-14) {
                const double next = loss.ascend(alpha, cost, z, caution * row.square, y);
                if (next != alpha) {
                    changing(i, alpha);
                    duals.set(loss, i, row, next);
                    steps.linear += estimates.dual(next, cost, y) - dual;
                    rows.add(i, caution * sign * (next - alpha), w);
                }
            }
        }
        steps.count += 1;
        if (worked(rows.entries(i))) break;
    }
    return steps;
}

}  // namespace pegasos
