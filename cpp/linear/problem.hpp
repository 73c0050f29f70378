// The problem: 1/2 ||w||^2 + C sum_i s_i loss_i, over rows x_i with weights s_i >= 0 and labels y_i = +-1, or
// targets (losses.hpp). Where the intercept is free, the norm leaves out the last entry of w, the weight of
// the constant feature.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/monitor.hpp"
#include "rows/rows.hpp"

namespace pegasos {

template <class Rows>
struct Problem {
    const Rows& rows;
    std::span<const double> labels;   // +1 or -1; for regression the targets
    std::span<const double> weights;  // s
    double C;
    double total_weight;  // sum of s
    bool free_intercept = false;

    std::size_t dimension() const { return rows.n_features + 1; }
    /// Entries of w that the norm has.
    std::size_t n_penalized() const { return dimension() - free_intercept; }
    double lambda() const { return 1 / (C * total_weight); }
};

}  // namespace pegasos
