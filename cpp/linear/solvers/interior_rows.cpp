#include "linear/solvers/interior_rows.hpp"

#include <cmath>

#include "base/rounding.hpp"

namespace pegasos {

void InteriorRows::take(const Problem& problem, const std::vector<double>& q,
                        FunctionRef<bool(std::size_t)> chosen) {
    *this = {};
    for (auto& sum : kept) sum.resize(problem.dimension());
    problem.rows.visit([&](const auto& rows) {
        for (std::size_t i = 0; i < rows.n_rows; ++i) {
            const double cost = problem.C * problem.weights[i], label = problem.labels[i];
            if (cost == 0) continue;
            if (!chosen(i)) {
                some_left_out = true;
                if (!(q[i] > 0)) continue;
                kept_cost[label > 0] += cost;
                rows.add(i, label * cost, kept[label > 0].data());
            } else if (problem.loss.regression) {
                push(i, problem.loss.corners.above * cost, 1, label - problem.loss.corners.epsilon);
                push(i, problem.loss.corners.below * cost, -1, -label - problem.loss.corners.epsilon);
            } else {
                push(i, cost, label, 1);
            }
        }
        for (std::size_t i = 0; i < size(); ++i) {
            const std::size_t entries = rows.entries(numbers[i]);
            const double norm = norm_above(rows.squared_norm(numbers[i]), entries + 1);
            const auto add = [&](double* sums, double a) {
                sums[0] += c[i] * a;
                sums[1] += c[i] * a * a;
            };
            add(scores, (1.01 * static_cast<double>(entries) + 8) * norm);
            add(thresholds, std::abs(threshold[i]) + problem.loss.corners.width / 2);
            add(norms, norm);
        }
    });
}

}  // namespace pegasos
