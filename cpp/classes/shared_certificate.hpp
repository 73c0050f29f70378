// How far from the optimum several classes are, each against the rest, in one pass over the rows: what
// `evaluate` in certificate.hpp finds for one problem, for each class, with the same allowance for rounding.
// All sums are double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "classes/class_matrix.hpp"
#include "linear/certificate.hpp"
#include "linear/problem.hpp"

namespace pegasos {

/// What a pass finds for a class.
struct ClassBounds {
    Bounds bounds;
    double negative, positive;  // by these the dual point is q, of the rest and of the class
};

/// What several classes' problems have in common.
template <class Rows>
struct CommonProblem {
    const Rows& rows;
    std::span<const double> weights;
    double C, total_weight;

    std::size_t dimension() const { return rows.n_features + 1; }
};

/// Several classes' problems: rows, weights and C are common; a row is of class `labels[i]`.
template <class Rows>
struct ClassProblems {
    CommonProblem<Rows> common;
    std::span<const std::uint32_t> labels;
};

/// The column of a class among those of a matrix, or `none`.
inline constexpr std::uint32_t no_column = UINT32_MAX;

/// One pass: the primal values at W, and dual values from `share(i, column, z)`, the q of a row whose margin
/// is z. `columns` has each class's column of W, or `no_column`. U gets sum_i C s_i q_i y_i x_i. Of a
/// penalised intercept the heavier side of each class's q is lightened, as in `evaluate`.
template <class Loss, class Rows, class Share>
std::vector<ClassBounds> evaluate_classes(const Loss& loss, const ClassProblems<Rows>& problems,
                                          const std::vector<std::uint32_t>& columns,
                                          const ClassMatrix<double>& W, ClassMatrix<double>& U,
                                          Monitor& monitor, Share share) {
    const CommonProblem<Rows>& problem = problems.common;
    const Rows& rows = problem.rows;
    const std::size_t K = W.n_classes(), stride = W.stride();
    struct Sums {
        Sum losses, linear[2];
        double slack = 0, size = 0;
    };
    std::vector<Sums> sums(K);
    AlignedVector<double> f(stride), change(stride), norms(stride);
    ClassMatrix<double> own(problem.dimension(),
                            K);  // of the rows of the class; U of the rest, until the end
    // What RowSum keeps: sum |alpha| ||x||, and the sum of its values after each addition; of own and of U.
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
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
        const double s = problem.weights[i], entries = static_cast<double>(rows.entries(i));
        const double norm = norm_above(rows.squared_norm(i), rows.entries(i) + 1);
        const double error = (1.01 * entries + 8) * unit * norm;
        const std::uint32_t mine = columns[problems.labels[i]];
        W.scores(rows, i, f.data());
        for (std::size_t k = 0; k < K; ++k) {
            const bool positive = k == mine;
            const double z = positive ? f[k] : -f[k], q = share(i, k, z);
            const double value = loss.value(z, 1), dual = loss.dual(q, 1, 1);
            sums[k].losses.add(s * value);
            sums[k].slack += s * loss.excess(z, 1, error * norms[k], value);
            sums[k].linear[positive].add(s * dual);
            sums[k].size += s * loss.size_of_dual(q, 1, dual);
            change[k] = -q;
        }
        const double cost = problem.C * s, length = cost * norm;
        if (mine != no_column) {
            const ClassChange step{mine, -change[mine]};
            change[mine] = 0;
            if (step.change != 0) {
                own.add(rows, i, cost, std::span(&step, 1));
                reach[1][mine] += length * step.change;
                spread[1][mine] += reach[1][mine];
            }
        }
        U.add_nonzero(rows, i, cost, change.data());
        double *sum = reach[0].data(), *sum_of_sums = spread[0].data();
        const double* q = change.data();
#pragma omp simd
        for (std::size_t k = 0; k < stride; ++k) {
            sum[k] -= length * q[k];
            sum_of_sums[k] += sum[k];
        }
        monitor.worked(rows.entries(i) * stride / 8);
    }
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
