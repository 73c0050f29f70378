// Label sequences with a score for each label at each position and one for each pair of neighbouring labels
// (a chain of first order), and the problem of training it (S0 section 5, example 5).
//
// A sequence has positions 1, ..., T with features x_t. The weights are a matrix W, whose column k scores the
// label k, and links V: V[j][k] for label k after label j, V[first][k] for label k at the start and
// V[last][k] for label k at the end. The score of the labels y is
//
//     <w, phi(x, y)> = V[first][y_1] + sum_t (x_t W)[y_t] + sum_{t > 1} V[y_{t-1}][y_t] + V[last][y_T],
//
// and training minimises, over n sequences with right labels y_i,
//
//     1/2 ||w||^2 + C sum_i s_i max_y [cost(y_i, y) + <w, phi(x_i, y)> - <w, phi(x_i, y_i)>],
//
// where cost(y_i, y) is the sum over the positions of cost[y_it][y_t]. Links may be forbidden: their weight
// is then minus infinity, is not learned and not in the norm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "classes/class_matrix.hpp"
#include "rows/any_rows.hpp"

namespace pegasos {

using Label = std::uint16_t;

/// The links: rows for each label before, then `first` and `last`; padded entries are minus infinity.
class Links : public ClassMatrix<double> {
public:
    explicit Links(std::size_t n_labels) : ClassMatrix(n_labels + 2, n_labels) {
        for (std::size_t j = 0; j < n_labels + 2; ++j)
            std::fill(row(j) + n_labels, row(j) + stride(), -std::numeric_limits<double>::infinity());
    }

    std::size_t n_labels() const { return n_classes(); }
    std::size_t first() const { return n_labels(); }
    std::size_t last() const { return n_labels() + 1; }
    std::size_t place(std::size_t j, std::size_t k) const { return j * stride() + k; }
    double& operator[](std::size_t place) { return values()[place]; }
    double operator[](std::size_t place) const { return values()[place]; }
    std::size_t size() const { return values().size(); }

    /// f(place) of the links of a sequence of labels, one after the other.
    template <class F>
    void for_each(std::span<const Label> labels, F f) const {
        if (labels.empty()) return;
        f(place(first(), labels[0]));
        for (std::size_t t = 1; t < labels.size(); ++t) f(place(labels[t - 1], labels[t]));
        f(place(last(), labels.back()));
    }
};

/// The sequences, one after the other in `rows`.
struct SequenceProblem {
    const AnyRows& rows;
    std::span<const std::uint64_t> starts;  // of each sequence, and the end of the last one
    std::span<const Label> labels;          // of each position
    std::span<const double> weights;        // of each sequence
    double C;
    std::span<const double> cost;  // n_labels x n_labels: the right one, the other one
    Links barriers;                // zero, or minus infinity where a link is forbidden
    bool boundaries;               // learn the links `first` and `last`

    std::size_t n_labels() const { return barriers.n_labels(); }
    std::size_t n_sequences() const { return starts.size() - 1; }
    std::size_t start(std::size_t i) const { return static_cast<std::size_t>(starts[i]); }
    std::size_t length(std::size_t i) const { return static_cast<std::size_t>(starts[i + 1] - starts[i]); }
    std::span<const Label> right(std::size_t i) const { return labels.subspan(start(i), length(i)); }
    const double* costs(std::size_t label) const { return cost.data() + label * n_labels(); }

    /// The weights of features, the constant one included.
    std::size_t dimension() const { return rows.dimension(); }

    /// Whether the link is a weight: those of the ends may be left out.
    bool learns(std::size_t place) const { return boundaries || place < n_labels() * barriers.stride(); }

    double cost_of(std::size_t i, std::span<const Label> other) const {
        double sum = 0;
        for (std::size_t t = 0; t < other.size(); ++t) sum += costs(labels[start(i) + t])[other[t]];
        return sum;
    }
};

/// Scores of the labels at each position of a sequence, `stride` apart, with the costs of each against the
/// right one.
template <class Scorer>
void score_positions(const SequenceProblem& problem, std::size_t i, const Scorer& scorer,
                     AlignedVector<double>& scores) {
    const std::size_t stride = problem.barriers.stride(), length = problem.length(i),
                      start = problem.start(i);
    if (scores.size() < length * stride) scores.resize(length * stride);
    problem.rows.visit([&](const auto& rows) {
        for (std::size_t t = 0; t < length; ++t) scorer.scores(rows, start + t, &scores[t * stride]);
    });
    for (std::size_t t = 0; t < length; ++t) {
        double* own = &scores[t * stride];
        const double* costs = problem.costs(problem.labels[start + t]);
        for (std::size_t k = 0; k < problem.n_labels(); ++k) own[k] += costs[k];
    }
}

/// The score of labels, from the scores of the positions and the links.
inline double score_of(std::span<const Label> labels, const double* scores, const Links& links) {
    double sum = 0;
    for (std::size_t t = 0; t < labels.size(); ++t) sum += scores[t * links.stride() + labels[t]];
    links.for_each(labels, [&](std::size_t place) { sum += links[place]; });
    return sum;
}

}  // namespace pegasos
