// The bounds of several classes, each against the rest, by one pass over the rows: what `LinearPass` finds
// for one problem, for each class, with the same allowance for rounding. All sums are double.
#pragma once

#include <cstdint>
#include <vector>

#include "base/certificate.hpp"
#include "base/solution.hpp"
#include "classes/class_matrix.hpp"
#include "linear/problem.hpp"

namespace pegasos {

/// What a pass finds for a class.
struct ClassBounds {
    Bounds bounds;
    double negative, positive;  // by these the dual point is q, of the rest and of the class
};

/// Several classes' problems: rows, weights, C and loss are common; a row is of class `labels[i]`.
struct ClassProblems {
    const Problem& common;  // whose labels are these numbers
    std::vector<std::uint32_t> labels;
};

/// The column of a class among those of a matrix, or `none`.
inline constexpr std::uint32_t no_column = UINT32_MAX;

/// One pass, of one thread: the primal values at W, and dual values from `shares`, which fills in the q of
/// each column, given the margins, of padded length. `columns` has each class's column of W, or `no_column`.
/// U gets sum_i C s_i q_i y_i x_i. Of a penalised intercept the heavier side of each class's q is lightened.
std::vector<ClassBounds> evaluate_classes(const ClassProblems& problems,
                                          const std::vector<std::uint32_t>& columns,
                                          const ClassMatrix<double>& W, ClassMatrix<double>& U,
                                          Monitor& monitor, const SlopeFunction& shares);

}  // namespace pegasos
