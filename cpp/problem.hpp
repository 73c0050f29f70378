// The problem: 1/2 ||w||^2 + C sum_i s_i loss(y_i <w, x_i>), over rows x_i with labels y_i = +-1 and weights
// s_i >= 0.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace pegasos {

template <class Rows>
struct Problem {
    const Rows& rows;
    std::span<const double> labels;   // +1 or -1
    std::span<const double> weights;  // s
    double C;
    double total_weight;  // sum of s

    std::size_t dimension() const { return rows.n_features + 1; }
    double lambda() const { return 1 / (C * total_weight); }
};

/// What is wrong with the rows, if anything, and the size of the largest one.
struct RowsReport {
    static constexpr std::int64_t none = -1;
    std::int64_t bad_structure = none;  // first row whose extent or column numbers are out of bounds
    std::int64_t not_finite = none;     // first row with NaN or infinity
    double largest_squared_norm = 0;
};

/// Looks at every entry once, before any solver does: a column number out of bounds would be a write out of
/// bounds.
template <class Rows>
RowsReport inspect(const Rows& rows, std::size_t n_stored) {
    RowsReport report;
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
        if constexpr (requires { rows.starts; }) {
            const auto begin = rows.starts[i], end = rows.starts[i + 1];
            bool valid = begin >= 0 && begin <= end && static_cast<std::size_t>(end) <= n_stored;
            if (valid) {
                auto lowest = begin * 0, highest = lowest;
#pragma omp simd reduction(min : lowest) reduction(max : highest)
                for (auto k = begin; k < end; ++k) {
                    lowest = rows.columns[k] < lowest ? rows.columns[k] : lowest;
                    highest = rows.columns[k] > highest ? rows.columns[k] : highest;
                }
                valid = lowest >= 0 && (begin == end || static_cast<std::size_t>(highest) < rows.n_features);
            }
            if (!valid) {
                report.bad_structure = static_cast<std::int64_t>(i);
                return report;
            }
        }
        const double square = rows.squared_norm(i);
        if (!std::isfinite(square) && report.not_finite == RowsReport::none)
            report.not_finite = static_cast<std::int64_t>(i);
        if (square > report.largest_squared_norm) report.largest_squared_norm = square;
    }
    return report;
}

}  // namespace pegasos
