// The examples of a kernel machine, in the precision of the kernel matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/sampling.hpp"

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

}  // namespace pegasos
