#include "sequence/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace pegasos {

SequenceSizes sizes_of(const ClassMatrix<double>& W, std::size_t n_rows, const Links& links) {
    std::vector<Sum> columns(W.n_classes());
    for (std::size_t j = 0; j < n_rows; ++j)
        for (std::size_t k = 0; k < columns.size(); ++k) columns[k].add(W.row(j)[k] * W.row(j)[k]);
    SequenceSizes sizes;
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

SequenceRounding::SequenceRounding(const SequenceProblem& problem)
    : C_(problem.C), n_sequences_(static_cast<double>(problem.n_sequences())) {
    struct Column {
        double sum = 0;
        std::uint32_t entries = 0;
    };
    std::vector<Column> columns(problem.dimension());
    norms_.reserve(problem.rows.n_rows);
    const double dearest =
        problem.cost.empty() ? 0 : *std::max_element(problem.cost.begin(), problem.cost.end());
    problem.rows.visit([&](const auto& rows) {
        for (std::size_t i = 0; i < problem.n_sequences(); ++i) {
            const double length = static_cast<double>(problem.length(i)), s = problem.weights[i];
            longest_ = std::max(longest_, length);
            costs_ += s * (2 * length + 4) * length * dearest;
            links_ += s * (2 * length + 4) * (length + 1) + least;
            for (std::size_t t = 0; t < problem.length(i); ++t) {
                // A feature that stands there twice counts with the sum of its values.
                double entries = 0, square = 0;
                const std::size_t row = problem.start(i) + t;
                rows.for_each(row, [&](std::size_t j, double x) {
                    Column& column = columns[j];
                    square += std::abs(x) * (2 * column.sum + std::abs(x)) + 1e-300;  // squares that vanish
                    column.sum += std::abs(x);
                    repeats_ = std::max(repeats_, ++column.entries);
                    entries += 1;
                });
                rows.for_each(row, [&](std::size_t j, double) { columns[j] = {}; });
                norms_.push_back(std::sqrt(square));
                scores_ += s * (entries + 2 * length + 4) * norms_.back() + least;
            }
        }
    });
}

void SequenceRounding::bound_primal(const SequenceSizes& sizes, double losses, Bounds& bounds) const {
    const double plain = sizes.square / 2 + losses;
    const double off = 2 * slack * unit * C_ * (scores_ * sizes.column + costs_ + links_ * sizes.link);
    bounds.above = off + plain * of_sum(std::max(sizes.count, n_sequences_)) + vanished(sizes);
    bounds.primal = plain + bounds.above;
}

void SequenceRounding::bound_dual(const SequenceSizes& sizes, double linear, double linear_error,
                                  double error, Bounds& bounds) const {
    const double plain = linear - sizes.square / 2, norm = std::sqrt(sizes.square);
    const double relative = of_sum(std::max(sizes.count, n_sequences_));
    bounds.below = slack * (linear_error + error * (norm + error)) + relative * (linear + sizes.square) +
                   vanished(sizes);
    bounds.dual = plain - bounds.below;
}

}  // namespace pegasos
