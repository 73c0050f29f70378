// The problem: 1/2 ||w||^2 + C sum_i s_i loss(y_i <w, x_i>), over rows x_i with labels y_i = +-1 and weights
// s_i >= 0.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "monitor.hpp"
#include "rows.hpp"

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

/// The first row of a CSR matrix whose extent or column numbers are out of bounds, or none.
template <class T, class Index>
std::int64_t find_bad_structure(const CsrRows<T, Index>& rows, std::size_t n_stored, Monitor& monitor) {
    for (std::size_t i = 0; i < rows.n_rows; ++i)
        if (rows.starts[i] < 0 || rows.starts[i] > rows.starts[i + 1] ||
            static_cast<std::size_t>(rows.starts[i + 1]) > n_stored)
            return static_cast<std::int64_t>(i);
    using Unsigned = std::make_unsigned_t<Index>;  // makes negative numbers large ones
    const auto highest_column = [&](Index begin, Index end) {
        Unsigned highest = 0;
#pragma omp simd reduction(max : highest)
        for (Index k = begin; k < end; ++k) {
            const auto column = static_cast<Unsigned>(rows.columns[k]);
            highest = column > highest ? column : highest;
        }
        return highest;
    };
    constexpr Index stretch = 1 << 20;  // between looks at the monitor
    bool fits = true;
    for (Index begin = rows.starts[0], end = rows.starts[rows.n_rows]; begin < end && fits;) {
        const Index stop = end - begin > stretch ? begin + stretch : end;
        fits = highest_column(begin, stop) < rows.n_features;
        monitor.worked(static_cast<std::size_t>(stop - begin));
        begin = stop;
    }
    if (fits) return RowsReport::none;
    for (std::size_t i = 0; i < rows.n_rows; ++i)
        if (rows.starts[i] < rows.starts[i + 1] &&
            highest_column(rows.starts[i], rows.starts[i + 1]) >= rows.n_features)
            return static_cast<std::int64_t>(i);
    return RowsReport::none;
}

template <class T>
std::int64_t find_bad_structure(const DenseRows<T>&, std::size_t, Monitor&) {
    return RowsReport::none;
}

/// Looks at every entry, before any solver does: a column number out of bounds would be a write out of
/// bounds. An interrupt ends it.
template <class Rows>
RowsReport inspect(const Rows& rows, std::size_t n_stored, Monitor& monitor) {
    RowsReport report;
    report.bad_structure = find_bad_structure(rows, n_stored, monitor);
    if (report.bad_structure != RowsReport::none) return report;
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
        const double square = rows.squared_norm(i);
        if (!std::isfinite(square) && report.not_finite == RowsReport::none)
            report.not_finite = static_cast<std::int64_t>(i);
        if (square > report.largest_squared_norm) report.largest_squared_norm = square;
        monitor.worked(rows.entries(i));
    }
    return report;
}

}  // namespace pegasos
