#include "classes/shared_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "rows/passes.hpp"

namespace pegasos {

std::vector<ClassBounds> evaluate_classes(const ClassProblems& problems,
                                          const std::vector<std::uint32_t>& columns,
                                          const ClassMatrix<double>& W, ClassMatrix<double>& U,
                                          Monitor& monitor, const SlopeFunction& shares) {
    const Problem& problem = problems.common;
    const AnyRows& rows = problem.rows;
    const std::size_t K = W.n_classes(), stride = W.stride();
    struct Sums {
        Sum losses, linear[2];
        double slack = 0, size = 0;
    };
    std::vector<Sums> sums(K);
    AlignedVector<double> z(pass_rows * stride), q(pass_rows * stride), norms(stride);
    ClassMatrix<double> own(problem.dimension(),
                            K);  // of the rows of the class; U of the rest, until the end
    // What `Reach` has: sum |alpha| ||x||, and the sum of its values after each addition; of U and of own.
    AlignedVector<double> reach[2], spread[2];
    for (int side = 0; side < 2; ++side) {
        reach[side].resize(stride);
        spread[side].resize(stride);
    }
    const auto squares = [&](auto value) {
        std::vector<Sum> all(K);
        for (std::size_t j = 0; j < problem.dimension(); ++j)
            for (std::size_t k = 0; k < K; ++k) all[k].add(value(j, k));
        return all;
    };
    const auto W2 = squares([&](std::size_t j, std::size_t k) { return W.row(j)[k] * W.row(j)[k]; });
    for (std::size_t k = 0; k < K; ++k) norms[k] = norm_above(W2[k].value(), problem.dimension());
    Team alone(1);
    pass_over(rows.n_rows, alone, monitor, [&](std::size_t, std::size_t first, std::size_t last) {
        RowFacts facts[pass_rows];
        const std::size_t work = read_rows(rows, first, last, facts, [&](const auto& typed, std::size_t i) {
            W.scores(typed, i, &z[(i - first) * stride]);
        });
        for (std::size_t i = first; i < last; ++i) {
            double* mine = &z[(i - first) * stride];
            const std::uint32_t column = columns[problems.labels[i]];
            for (std::size_t k = 0; k < K; ++k)
                if (k != column) mine[k] = -mine[k];
        }
        shares(first, last, z.data(), q.data());
        problem.loss.visit([&](const auto& loss) {
            for (std::size_t i = first, b = 0; i < last; ++i, ++b) {
                const double s = problem.weights[i], error = score_error(facts[b].entries) * facts[b].norm;
                const std::uint32_t column = columns[problems.labels[i]];
                for (std::size_t k = 0; k < K; ++k) {
                    const double margin = z[b * stride + k], share = q[b * stride + k];
                    const double value = loss.value(margin, 1), dual = loss.dual(share, 1, 1);
                    sums[k].losses.add(not_lost(s * value, s > 0 && value > 0));
                    sums[k].slack += s * loss.excess(margin, 1, error * norms[k], value);
                    sums[k].linear[k == column].add(s * dual);
                    sums[k].size += s * loss.size_of_dual(share, 1, dual);
                }
            }
        });
        rows.visit([&](const auto& typed) {
            for (std::size_t i = first, b = 0; i < last; ++i, ++b) {
                const std::uint32_t column = columns[problems.labels[i]];
                const double cost = problem.C * problem.weights[i], length = cost * facts[b].norm;
                double* change = &q[b * stride];
                if (column != no_column) {
                    const ClassChange step{column, std::exchange(change[column], 0.0)};
                    if (step.change != 0) {
                        own.add(typed, i, cost, std::span(&step, 1));
                        reach[1][column] += length * step.change;
                        spread[1][column] += reach[1][column];
                    }
                }
                for (std::size_t k = 0; k < K; ++k) change[k] = -change[k];
                U.add_nonzero(typed, i, cost, change);
                double *sum = reach[0].data(), *sum_of_sums = spread[0].data();
#pragma omp simd
                for (std::size_t k = 0; k < stride; ++k) {
                    sum[k] -= length * change[k];
                    sum_of_sums[k] += sum[k];
                }
            }
        });
        return work * stride / 8;
    });
    const auto rest2 = squares([&](std::size_t j, std::size_t k) { return U.row(j)[k] * U.row(j)[k]; });
    const auto own2 = squares([&](std::size_t j, std::size_t k) { return own.row(j)[k] * own.row(j)[k]; });
    const auto cross = squares([&](std::size_t j, std::size_t k) { return U.row(j)[k] * own.row(j)[k]; });
    std::vector<ClassBounds> found;
    for (std::size_t k = 0; k < K; ++k) {
        const double linear[2] = {problem.C * sums[k].linear[0].value(),
                                  problem.C * sums[k].linear[1].value()};
        const double square[2] = {rest2[k].value(), own2[k].value()};
        double factor[2] = {1, 1};
        if (rows.bias > 0) {
            const int heavy = U.row(rows.n_features)[k] + own.row(rows.n_features)[k] > 0;
            if (square[heavy] > 0)
                factor[heavy] = std::clamp((linear[heavy] - cross[k].value()) / square[heavy], 0.0, 1.0);
        }
        const auto& [a, b] = factor;
        const Bound primal = primal_bound(W2[k].value(), problem.C, sums[k].losses.value(), sums[k].slack,
                                          rows.n_rows, problem.dimension());
        const double norm = a * a * square[0] + b * b * square[1] + 2 * a * b * cross[k].value();
        // The largest that the norm could have been, were it not for what cancels.
        const double length = a * std::sqrt(square[0]) + b * std::sqrt(square[1]);
        double error = 0;
        for (int side = 0; side < 2; ++side)
            error += 1.01 * unit * factor[side] * (spread[side][k] + 32 * reach[side][k]);
        const double value = a * linear[0] + b * linear[1];
        const double below =
            (32 * unit + sum_error(rows.n_rows)) * problem.C * sums[k].size + error * (length + error) +
            (16 * unit + sum_error(problem.dimension())) * (std::abs(value) + length * length);
        found.push_back({between(primal, {value - norm / 2 - below, below}), a, b});
    }
    for (std::size_t j = 0; j < U.values().size(); ++j) U.values()[j] += own.values()[j];
    return found;
}

}  // namespace pegasos
