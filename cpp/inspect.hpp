// A look at every entry before any solver trusts it: a column number out of bounds would be a write out of
// bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "monitor.hpp"
#include "rows.hpp"
#include "threads.hpp"

namespace pegasos {

/// What is wrong with the rows, if anything, and the size of the largest one.
struct RowsReport {
    static constexpr std::int64_t none = -1;
    std::int64_t bad_structure = none;  // first row whose extent or column numbers are out of bounds
    std::int64_t not_finite = none;     // first row with NaN or infinity
    double largest_squared_norm = 0;
    double entries = 0;  // in all rows
};

/// The first of the rows [first, last) of a CSR matrix whose extent or column numbers are out of bounds, or
/// none.
template <class T, class Index>
std::int64_t find_bad_structure(const CsrRows<T, Index>& rows, std::size_t first, std::size_t last,
                                std::size_t n_stored) {
    const auto is_sound = [&](std::size_t i) {
        return rows.starts[i] >= 0 && rows.starts[i] <= rows.starts[i + 1] &&
               static_cast<std::size_t>(rows.starts[i + 1]) <= n_stored;
    };
    std::size_t sound = first;  // the extents of the rows before this one are
    while (sound < last && is_sound(sound)) ++sound;
    using Unsigned = std::make_unsigned_t<Index>;  // makes negative numbers large ones
    const auto fits = [&](Index begin, Index end) {
        Unsigned highest = 0;
#pragma omp simd reduction(max : highest)
        for (Index k = begin; k < end; ++k) {
            const auto column = static_cast<Unsigned>(rows.columns[k]);
            highest = column > highest ? column : highest;
        }
        return begin == end || highest < rows.n_features;
    };
    std::size_t i = first;
    if (first == sound || fits(rows.starts[first], rows.starts[sound]))
        i = sound;
    else
        while (fits(rows.starts[i], rows.starts[i + 1])) ++i;
    return i == last ? RowsReport::none : static_cast<std::int64_t>(i);
}

template <class T>
std::int64_t find_bad_structure(const DenseRows<T>&, std::size_t, std::size_t, std::size_t) {
    return RowsReport::none;
}

/// An interrupt ends it.
template <class Rows>
RowsReport inspect(const Rows& rows, std::size_t n_stored, Team& team, Monitor& monitor) {
    constexpr std::size_t stretch = 256;  // rows whose columns are looked at in one sweep
    std::vector<RowsReport> reports(team.size());
    team.run_ranges(rows.n_rows, [&](std::size_t k, std::size_t begin, std::size_t end) {
        RowsReport report;
        for (std::size_t first = begin; first < end && !team.failed(); first += stretch) {
            const std::size_t last = std::min(first + stretch, end);
            report.bad_structure = find_bad_structure(rows, first, last, n_stored);
            if (report.bad_structure != RowsReport::none) break;
            std::size_t entries = 0;
            for (std::size_t i = first; i < last; ++i) {
                const double square = rows.squared_norm(i);
                if (!std::isfinite(square) && report.not_finite == RowsReport::none)
                    report.not_finite = static_cast<std::int64_t>(i);
                report.largest_squared_norm = std::max(report.largest_squared_norm, square);
                entries += rows.entries(i);
            }
            report.entries += static_cast<double>(entries);
            if (k == 0) monitor.worked(entries);
        }
        reports[k] = report;
    });
    RowsReport all;
    for (const RowsReport& report :
         reports) {  // in the order of the rows, so that the first finding is the first row
        if (all.bad_structure == RowsReport::none) all.bad_structure = report.bad_structure;
        if (all.not_finite == RowsReport::none) all.not_finite = report.not_finite;
        all.largest_squared_norm = std::max(all.largest_squared_norm, report.largest_squared_norm);
        all.entries += report.entries;
    }
    return all;
}

}  // namespace pegasos
