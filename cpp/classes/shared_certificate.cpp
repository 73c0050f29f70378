#include "classes/shared_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "rows/passes.hpp"

namespace pegasos {

namespace {

/// value(j, k) for each column k, added up.
template <class Value>
std::vector<Sum> sums_of_columns(std::size_t dimension, std::size_t K, Value value) {
    std::vector<Sum> all(K);
    for (std::size_t j = 0; j < dimension; ++j)
        for (std::size_t k = 0; k < K; ++k) all[k].add(value(j, k));
    return all;
}

/// Each class against the rest, a column for each.
class ClassTerms {
public:
    ClassTerms(const ClassProblems& problems, const std::vector<std::uint32_t>& columns,
               const ClassMatrix<double>& W, const std::vector<Sum>& squares)
        : problem_(problems.common),
          labels_(problems.labels.data()),
          columns_(columns.data()),
          W_(W),
          K_(W.n_classes()),
          stride_(W.stride()),
          norms_(stride_) {
        for (std::size_t k = 0; k < K_; ++k) norms_[k] = norm_above(squares[k].value(), problem_.dimension());
    }

    struct Sums {
        Sum losses, linear[2];
        double slack = 0, size = 0, lost = 0;  // as in the pass of one column
    };

    /// Of two kinds: of the rows of the rest, and of those of the class.
    struct Partial {
        explicit Partial(const ClassTerms& terms)
            : sums(terms.K_),
              z(pass_rows * terms.stride_),
              q(pass_rows * terms.stride_),
              u{{terms.problem_.dimension(), terms.K_}, {terms.problem_.dimension(), terms.K_}} {
            for (int side = 0; side < 2; ++side) {
                reach[side].resize(terms.stride_);
                spread[side].resize(terms.stride_);
            }
        }

        std::vector<Sums> sums;
        AlignedVector<double> z, q;
        ClassMatrix<double> u[2];
        // What `Reach` has: sum |alpha| ||x||, and the sum of its values after each addition.
        AlignedVector<double> reach[2], spread[2];
        double lost = 0;  // of any column, to underflow
    };

    template <class Rows>
    void score(const Rows& rows, std::size_t i, Partial& mine, std::size_t b) const {
        double* z = &mine.z[b * stride_];
        W_.scores(rows, i, z);
        for (std::size_t k = 0; k < K_; ++k)
            if (k != column(i)) z[k] = -z[k];
    }

    void add_losses(std::size_t first, std::size_t last, const RowFacts* facts, Partial& mine) const {
        problem_.loss.visit([&](const auto& loss) {
            for (std::size_t i = first, b = 0; i < last; ++i, ++b) {
                const double s = problem_.weights[i], error = score_error(facts[b].entries) * facts[b].norm;
                for (std::size_t k = 0; k < K_; ++k) {
                    const double margin = mine.z[b * stride_ + k], value = loss.value(margin, 1),
                                 excess = loss.excess(margin, 1, error * norms_[k], value);
                    mine.sums[k].losses.add(s * value);
                    mine.sums[k].slack += s * excess;
                    if (s > 0 && (value > 0 || excess > 0)) mine.sums[k].slack += lost_products(s);
                }
            }
        });
    }

    std::pair<const double*, double*> slopes(std::size_t, Partial& mine) const {
        return {mine.z.data(), mine.q.data()};
    }

    void add_duals(std::size_t first, std::size_t last, Partial& mine) const {
        problem_.loss.visit([&](const auto& loss) {
            for (std::size_t i = first, b = 0; i < last; ++i, ++b) {
                const double s = problem_.weights[i];
                for (std::size_t k = 0; k < K_; ++k) {
                    const double share = mine.q[b * stride_ + k], dual = loss.dual(share, 1, 1);
                    mine.sums[k].linear[k == column(i)].add(s * dual);
                    mine.sums[k].size += s * loss.size_of_dual(share, 1, dual);
                    if (s > 0 && share != 0) mine.sums[k].lost += lost_products(s);
                }
            }
        });
    }

    template <class Rows>
    void add_rows(const Rows& rows, std::size_t first, std::size_t last, const RowFacts* facts,
                  Partial& mine) const {
        for (std::size_t i = first, b = 0; i < last; ++i, ++b) {
            const double cost = problem_.C * problem_.weights[i], length = cost * facts[b].norm;
            double* change = &mine.q[b * stride_];
            const double largest = *std::max_element(change, change + K_);
            if (largest > 0) mine.lost += lost_of_row(facts[b].norm, facts[b].entries, largest);
            if (const std::uint32_t k = column(i); k != no_column) {
                const ClassChange step{k, std::exchange(change[k], 0.0)};
                if (step.change != 0) {
                    mine.u[1].add(rows, i, cost, std::span(&step, 1));
                    mine.reach[1][k] += length * step.change;
                    mine.spread[1][k] += mine.reach[1][k];
                }
            }
            for (std::size_t k = 0; k < K_; ++k) change[k] = -change[k];
            mine.u[0].add_nonzero(rows, i, cost, change);
            double *sum = mine.reach[0].data(), *sum_of_sums = mine.spread[0].data();
#pragma omp simd
            for (std::size_t k = 0; k < stride_; ++k) {
                sum[k] -= length * change[k];
                sum_of_sums[k] += sum[k];
            }
        }
    }

    std::size_t work(std::size_t entries) const { return entries * stride_ / 8; }

private:
    std::uint32_t column(std::size_t i) const { return columns_[labels_[i]]; }

    const Problem& problem_;
    const std::uint32_t *const labels_, *const columns_;
    const ClassMatrix<double>& W_;
    const std::size_t K_, stride_;
    AlignedVector<double> norms_;  // at least those of the columns of W
};

}  // namespace

std::vector<ClassBounds> evaluate_classes(const ClassProblems& problems,
                                          const std::vector<std::uint32_t>& columns,
                                          const ClassMatrix<double>& W, ClassMatrix<double>& U,
                                          Monitor& monitor, const SlopeFunction& shares) {
    const Problem& problem = problems.common;
    const AnyRows& rows = problem.rows;
    const std::size_t K = W.n_classes();
    const auto squares = [&](const auto& value) { return sums_of_columns(problem.dimension(), K, value); };
    const auto W2 = squares([&](std::size_t j, std::size_t k) { return W.row(j)[k] * W.row(j)[k]; });
    Team alone(1);
    auto partials = make_pass(ClassTerms(problems, columns, W, W2), rows, shares, alone, monitor);
    auto& [sums, z, q, u, reach, spread, lost] = *partials[0];
    U = std::move(u[0]);
    const ClassMatrix<double>& own = u[1];
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
            error += factor[side] * (1.01 * unit * (spread[side][k] + 32 * reach[side][k]) + 2 * lost);
        const double value = a * linear[0] + b * linear[1];
        double below =
            problem.C * ((32 * unit + sum_error(rows.n_rows)) * sums[k].size + 1.01 * sums[k].lost) +
            error * (length + error) +
            (16 * unit + sum_error(problem.dimension())) * (std::abs(value) + length * length);
        if (value != 0 || length > 0) below += least * static_cast<double>(problem.dimension() + 16);
        found.push_back({between(primal, {value - norm / 2 - below, below}), a, b});
    }
    for (std::size_t j = 0; j < U.values().size(); ++j) U.values()[j] += own.values()[j];
    return found;
}

}  // namespace pegasos
