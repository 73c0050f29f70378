// The examples of a kernel machine, in the precision of the kernel matrix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/growing_array.hpp"
#include "base/sampling.hpp"
#include "base/threads.hpp"

namespace pegasos {

struct ByteRows;

/// Dense rows, or CSR where `starts` is given; of these all,
/// or those that are named.
template <class Real>
struct Points {
    std::size_t n, n_features;
    const Real* values;
    const std::int32_t* columns;
    const std::int64_t* starts;
    const RowNumber* named = nullptr;
    const ByteRows* bytes = nullptr;  // the same, where there is such a form of them
    std::size_t span = 0;             // of CSR rows: columns whose products are added up apart; 0: all

    Points some(std::span<const RowNumber> which) const {
        return {which.size(), n_features, values, columns, starts, which.data(), bytes, span};
    }
    /// Where the entries of example i are.
    std::size_t place(std::size_t i) const { return named ? named[i] : i; }
    bool sparse() const { return starts != nullptr; }
    /// How many entries an example has.
    std::size_t entries(std::size_t i) const {
        const std::size_t at = place(i);
        return sparse() ? static_cast<std::size_t>(starts[at + 1] - starts[at]) : n_features;
    }
    /// f(column, value) of the entries of an example.
    template <class F>
    void for_each(std::size_t i, F f) const {
        const std::size_t at = place(i);
        if (sparse()) {
            for (std::int64_t k = starts[at]; k < starts[at + 1]; ++k)
                f(static_cast<std::size_t>(columns[k]), values[k]);
        } else {
            for (std::size_t k = 0; k < n_features; ++k) f(k, values[at * n_features + k]);
        }
    }
    double squared_norm(std::size_t i) const {
        double sum = 0;
        for_each(i, [&](std::size_t, Real value) { sum += static_cast<double>(value) * value; });
        return sum;
    }
};

/// Values, columns and row starts of a matrix, without its zeros.
template <class Real>
struct SparseEntries {
    GrowingArray<Real> values;
    GrowingArray<std::int32_t> columns;
    std::vector<std::int64_t> starts;
};

/// Those of a dense matrix of n rows of d numbers; none where more than `most` are not zero.
template <class Real>
std::optional<SparseEntries<Real>> sparse_entries(const Real* rows, std::size_t n, std::size_t d,
                                                  std::size_t most, Team& team) {
    SparseEntries<Real> found;
    std::vector<std::int64_t>& starts = found.starts;
    starts.resize(n + 1);
    team.run_ranges(n, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            starts[i + 1] =
                static_cast<std::int64_t>(d) - std::count(rows + i * d, rows + (i + 1) * d, Real{0});
    });
    for (std::size_t i = 0; i < n; ++i) starts[i + 1] += starts[i];
    const auto total = static_cast<std::size_t>(starts[n]);
    if (total > most) return std::nullopt;
    found.columns.set_capacity(total);
    found.values.set_capacity(total);
    team.run_ranges(n, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            auto k = static_cast<std::size_t>(starts[i]);
            for (std::size_t j = 0; j < d; ++j) {
                const Real value = rows[i * d + j];
                if (value == 0) continue;
                found.columns.data()[k] = static_cast<std::int32_t>(j);
                found.values.data()[k++] = value;
            }
        }
    });
    return found;
}

}  // namespace pegasos
