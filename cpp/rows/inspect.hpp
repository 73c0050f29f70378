// A look at every entry before any solver trusts it: a column number out of bounds would be a write out of
// bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/monitor.hpp"
#include "base/threads.hpp"
#include "rows/any_rows.hpp"

namespace pegasos {

/// What is wrong with the rows, if anything, and the size of the largest one.
struct RowsFacts {
    static constexpr std::int64_t none = -1;
    std::int64_t bad_structure = none;  // first row whose extent or column numbers are out of bounds
    std::int64_t not_finite = none;     // first row with NaN or infinity
    double largest_squared_norm = 0;
    double entries = 0;                 // in all rows
    bool canonical = true;              // the columns of every row rise
    std::unique_ptr<double[]> squares;  // the squared norm of each, for `rows.squares`
};

/// Reads every entry; an interrupt ends it. `n_stored`: entries that the arrays have.
RowsFacts inspect(const AnyRows& rows, std::size_t n_stored, Team& team, Monitor& monitor);

}  // namespace pegasos
