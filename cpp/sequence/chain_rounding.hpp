// What rounding may do to the bounds of a chain of labels (chain.hpp has the symbols; u = 2^-53).
//
// The score of a label at a position is a sum of n products, off by at most n u ||x_t|| ||W_k|| in any order.
// A labelling of T positions is a sum of T scores with their costs and of T + 1 links; each of them goes
// through 2T additions or fewer, and is off by as many u of itself. Decoding yields the highest of these sums
// as they are rounded, since a sum rounds to no less than a lower one does. So the loss of a sequence, the
// difference of two sums, is off by at most
//
//     2 u (sum_t (n_t + 2T + 4) ||x_t|| max_k ||W_k|| + (2T + 4) (T max cost + (T + 1) max |V|)),
//
// in which only the weights change from one check to the next.
//
// The factor `slack` covers terms in u^2, and the rounding of the allowances themselves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rounding.hpp"
#include "linear/certificate.hpp"
#include "sequence/chain.hpp"

namespace pegasos {

/// Sizes of the weights of a chain.
struct ChainSizes {
    double square = 0;  // ||w||^2
    double column = 0;  // the largest norm of the weights of a label, or a little more
    double link = 0;    // the largest link
    double count = 0;   // of the weights
};

inline ChainSizes sizes_of(const ClassMatrix<double>& W, std::size_t n_rows, const Links& links) {
    std::vector<Sum> columns(W.n_classes());
    for (std::size_t j = 0; j < n_rows; ++j)
        for (std::size_t k = 0; k < columns.size(); ++k) columns[k].add(W.row(j)[k] * W.row(j)[k]);
    ChainSizes sizes;
    Sum square;
    for (const Sum& own : columns) {
        square.add(own.value());
        sizes.column = std::max(sizes.column, own.value());
    }
    for (std::size_t place = 0; place < links.size(); ++place) {
        if (!std::isfinite(links[place])) continue;
        square.add(links[place] * links[place]);
        sizes.link = std::max(sizes.link, std::abs(links[place]));
    }
    sizes.count = static_cast<double>(n_rows * columns.size() + links.size());
    sizes.square = square.value();
    const auto& values = W.values();
    if (std::any_of(values.begin(), values.end(), [](double x) { return x != 0; }))
        sizes.column = std::sqrt(sizes.column + sizes.count * 1e-300);  // squares that vanish
    return sizes;
}

class ChainRounding {
public:
    static constexpr double slack = 1.01;

    template <class Rows>
    explicit ChainRounding(const ChainProblem<Rows>& problem)
        : C_(problem.C), n_sequences_(static_cast<double>(problem.n_sequences())) {
        struct Column {
            double sum = 0;
            std::uint32_t entries = 0;
        };
        std::vector<Column> columns(problem.dimension());
        norms_.reserve(problem.rows.n_rows);
        const double dearest =
            problem.cost.empty() ? 0 : *std::max_element(problem.cost.begin(), problem.cost.end());
        for (std::size_t i = 0; i < problem.n_sequences(); ++i) {
            const double length = static_cast<double>(problem.length(i)), s = problem.weights[i];
            longest_ = std::max(longest_, length);
            costs_ += s * (2 * length + 4) * length * dearest;
            links_ += s * (2 * length + 4) * (length + 1);
            for (std::size_t t = 0; t < problem.length(i); ++t) {
                // A feature that stands there twice counts with the sum of its values.
                double entries = 0, square = 0;
                const std::size_t row = problem.start(i) + t;
                problem.rows.for_each(row, [&](std::size_t j, double x) {
                    Column& column = columns[j];
                    square += std::abs(x) * (2 * column.sum + std::abs(x)) + 1e-300;  // squares that vanish
                    column.sum += std::abs(x);
                    repeats_ = std::max(repeats_, ++column.entries);
                    entries += 1;
                });
                problem.rows.for_each(row, [&](std::size_t j, double) { columns[j] = {}; });
                norms_.push_back(std::sqrt(square));
                scores_ += s * (entries + 2 * length + 4) * norms_.back();
            }
        }
    }

    /// Of the row of a position, or a little more.
    double norm(std::size_t row) const { return norms_[row]; }
    /// How often a feature may stand in one row.
    double repeats() const { return repeats_; }
    double longest() const { return longest_; }

    /// An upper bound of the objective, from the sum of the losses times their weights.
    void bound_primal(const ChainSizes& sizes, double losses, Bounds& bounds) const {
        const double plain = sizes.square / 2 + losses;
        const double off = 2 * slack * unit * C_ * (scores_ * sizes.column + costs_ + links_ * sizes.link);
        bounds.above = off + plain * of_sum(std::max(sizes.count, n_sequences_)) + vanished(sizes);
        bounds.primal = plain + bounds.above;
    }

    /// A lower bound of linear - 1/2 ||w||^2, where these are off by no more than the given errors, the
    /// second one in norm, but for the rounding of their last sums.
    void bound_dual(const ChainSizes& sizes, double linear, double linear_error, double error,
                    Bounds& bounds) const {
        const double plain = linear - sizes.square / 2, norm = std::sqrt(sizes.square);
        const double relative = of_sum(std::max(sizes.count, n_sequences_));
        bounds.below = slack * (linear_error + error * (norm + error)) + relative * (linear + sizes.square) +
                       vanished(sizes);
        bounds.dual = plain - bounds.below;
    }

    /// Of a compensated sum of so many terms that are not negative, products of few factors, relatively.
    static double of_sum(double terms) { return 8 * unit + terms * unit * terms * unit; }

private:
    /// What squares below the smallest numbers may add up to.
    static double vanished(const ChainSizes& sizes) {
        return sizes.column > 0 || sizes.link > 0 ? sizes.count * 1e-300 : 0;
    }

    double C_, n_sequences_;
    double scores_ = 0, costs_ = 0, links_ = 0, longest_ = 0;
    std::uint32_t repeats_ = 1;
    std::vector<double> norms_;
};

}  // namespace pegasos
