#include "rows/inspect.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

namespace pegasos {

namespace {

/// What is to be said of the structure of the rows [first, last).
struct Structure {
    std::int64_t bad_row = RowsFacts::none;  // the first whose extent or column numbers are out of bounds
    bool canonical = true;                   // the columns of every row before that one rise
};

template <class T>
Structure inspect_structure(const DenseRows<T>&, std::size_t, std::size_t, std::size_t) {
    return {};
}

/// One sweep over the columns of all rows together: where they do not rise, a row must begin.
template <class T, class Index>
Structure inspect_structure(const CsrRows<T, Index>& rows, std::size_t first, std::size_t last,
                            std::size_t n_stored) {
    const auto is_sound = [&](std::size_t i) {
        return rows.starts[i] >= 0 && rows.starts[i] <= rows.starts[i + 1] &&
               static_cast<std::size_t>(rows.starts[i + 1]) <= n_stored;
    };
    std::size_t sound = first;  // the extents of the rows before this one are
    while (sound < last && is_sound(sound)) ++sound;
    const auto fits = [&](Index column) {
        return static_cast<std::make_unsigned_t<Index>>(column) < rows.n_features;
    };
    const Index begin = rows.starts[first], size = sound > first ? rows.starts[sound] - begin : 0;
    const Index* columns = rows.columns + begin;
    Index misfits = 0, falls = 0;
    if (size > 0) misfits = !fits(columns[0]);
#pragma omp simd reduction(+ : misfits, falls)
    for (Index k = 1; k < size; ++k) {
        misfits += !fits(columns[k]);
        falls += columns[k] <= columns[k - 1];
    }
    for (std::size_t i = first; i < sound; ++i) {
        const Index k = rows.starts[i] - begin;
        if (k > 0 && rows.entries(i) > 0) falls -= columns[k] <= columns[k - 1];
    }
    if (misfits > 0) {
        std::size_t i = first;
        const auto row_fits = [&](std::size_t row) {
            return std::all_of(rows.columns + rows.starts[row], rows.columns + rows.starts[row + 1], fits);
        };
        while (row_fits(i)) ++i;
        sound = i;
    }
    return {sound == last ? RowsFacts::none : static_cast<std::int64_t>(sound), falls == 0};
}

template <class Rows>
RowsFacts inspect_rows(const Rows& rows, std::size_t n_stored, Team& team, Monitor& monitor) {
    constexpr std::size_t stretch = 256;  // rows whose columns are looked at in one sweep
    std::vector<RowsFacts> reports(team.size());
    auto squares = std::make_unique_for_overwrite<double[]>(rows.n_rows);
    team.run_ranges(rows.n_rows, [&](std::size_t k, std::size_t begin, std::size_t end) {
        RowsFacts report;
        for (std::size_t first = begin; first < end && !team.failed(); first += stretch) {
            const std::size_t last = std::min(first + stretch, end);
            const Structure structure = inspect_structure(rows, first, last, n_stored);
            report.bad_structure = structure.bad_row;
            report.canonical = report.canonical && structure.canonical;
            if (report.bad_structure != RowsFacts::none) break;
            std::size_t entries = 0;
            for (std::size_t i = first; i < last; ++i) {
                const double square = squares[i] = rows.squared_norm(i);
                if (!std::isfinite(square) && report.not_finite == RowsFacts::none)
                    report.not_finite = static_cast<std::int64_t>(i);
                report.largest_squared_norm = std::max(report.largest_squared_norm, square);
                entries += rows.entries(i);
            }
            report.entries += static_cast<double>(entries);
            if (k == 0) monitor.worked(entries);
        }
        reports[k] = std::move(report);
    });
    RowsFacts all;
    for (const RowsFacts& report :
         reports) {  // in the order of the rows, so that the first finding is the first row
        if (all.bad_structure == RowsFacts::none) all.bad_structure = report.bad_structure;
        if (all.not_finite == RowsFacts::none) all.not_finite = report.not_finite;
        all.largest_squared_norm = std::max(all.largest_squared_norm, report.largest_squared_norm);
        all.entries += report.entries;
        all.canonical = all.canonical && report.canonical;
    }
    all.squares = std::move(squares);
    return all;
}

}  // namespace

RowsFacts inspect(const AnyRows& rows, std::size_t n_stored, Team& team, Monitor& monitor) {
    return rows.visit([&](const auto& typed) { return inspect_rows(typed, n_stored, team, monitor); });
}

}  // namespace pegasos
