// The problem: 1/2 ||w||^2 + C sum_i s_i loss_i, over rows x_i with weights s_i >= 0 and labels y_i = +-1, or
// targets (losses.hpp). Where the intercept is free, the norm leaves out the last entry of w, the weight of
// the constant feature.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>

#include "base/rounding.hpp"
#include "linear/losses.hpp"
#include "rows/any_rows.hpp"

namespace pegasos {

struct Problem {
    const AnyRows& rows;
    std::span<const double> labels;   // +1 or -1; for regression the targets
    std::span<const double> weights;  // s
    double C;
    AnyLoss loss;
    bool free_intercept = false;
    double total_weight = sum(weights);  // of s

    std::size_t n_rows() const { return rows.n_rows; }
    std::size_t dimension() const { return rows.dimension(); }
    /// Entries of w that the norm has.
    std::size_t n_penalized() const { return dimension() - free_intercept; }
    double lambda() const { return 1 / (C * total_weight); }
    void refuse_free_intercept() const {
        if (free_intercept) throw std::invalid_argument("this solver does not support a free intercept");
    }
    double sign(std::size_t i) const { return loss.regression ? 1 : labels[i]; }
};

}  // namespace pegasos
