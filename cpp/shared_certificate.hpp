// How far from the optimum several classes are, each against the rest, in one pass over the rows: what
// `evaluate` in certificate.hpp finds for one problem, for each class. All sums are double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "certificate.hpp"
#include "class_matrix.hpp"
#include "monitor.hpp"
#include "problem.hpp"

namespace pegasos {

/// What a pass finds for a class.
struct ClassBounds {
    Bounds bounds;
    double negative, positive;  // by these the dual point is q, of the rest and of the class
};

/// Several classes' problems: rows, weights and C are common; a row is of class `labels[i]`.
template <class Rows>
struct ClassProblems {
    const Problem<Rows>& common;  // its labels have no meaning
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
    const Problem<Rows>& problem = problems.common;
    const Rows& rows = problem.rows;
    const std::size_t K = W.n_classes();
    struct Sums {
        Sum losses, linear[2];
    };
    std::vector<Sums> sums(K);
    AlignedVector<double> f(W.stride()), change(W.stride());
    ClassMatrix<double> own(problem.dimension(),
                            K);  // of the rows of the class; U of the rest, until the end
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
        const double s = problem.weights[i];
        const std::uint32_t mine = columns[problems.labels[i]];
        W.scores(rows, i, f.data());
        for (std::size_t k = 0; k < K; ++k) {
            const bool positive = k == mine;
            const double z = positive ? f[k] : -f[k], q = share(i, k, z);
            sums[k].losses.add(s * loss.value(z, 1));
            sums[k].linear[positive].add(s * loss.dual(q, 1, 1));
            change[k] = -q;
        }
        if (mine != no_column) {
            const ClassChange step{mine, -change[mine]};
            change[mine] = 0;
            if (step.change != 0) own.add(rows, i, problem.C * s, std::span(&step, 1));
        }
        U.add_nonzero(rows, i, problem.C * s, change.data());
        monitor.worked(rows.entries(i) * W.stride() / 8);
    }
    const auto squares = [&](auto value) {
        std::vector<Sum> all(K);
        for (std::size_t j = 0; j < problem.dimension(); ++j)
            for (std::size_t k = 0; k < K; ++k) all[k].add(value(j, k));
        return all;
    };
    const auto W2 = squares([&](std::size_t j, std::size_t k) { return W.row(j)[k] * W.row(j)[k]; });
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
        const double primal = W2[k].value() / 2 + problem.C * sums[k].losses.value();
        const double norm = a * a * square[0] + b * b * square[1] + 2 * a * b * cross[k].value();
        found.push_back({{primal, a * linear[0] + b * linear[1] - norm / 2}, a, b});
    }
    for (std::size_t j = 0; j < U.values().size(); ++j) U.values()[j] += own.values()[j];
    return found;
}

}  // namespace pegasos
