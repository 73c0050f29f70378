// Scores of examples under linear weights, for predictions: X is used in place, and looked at in the same
// pass.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/monitor.hpp"
#include "rows/rows.hpp"

namespace pegasos {

/// Rows of an array in whatever order its numbers are.
template <class T>
struct StridedRows {
    const T* values;
    std::size_t n_rows, n_features;
    std::ptrdiff_t row_stride, column_stride;  // in entries
};

/// What a feature weighs in each of `n_out` scores, and what is added to these.
struct ScoreWeights {
    const double* values;
    std::size_t n_features, n_out;
    std::ptrdiff_t feature_stride, out_stride;  // in entries
    const double* intercepts;
};

/// Where scores go, n_out a row; or the number of the largest, of one score whether it is positive.
struct ScoresTo {
    double* scores = nullptr;
    std::int64_t* numbers = nullptr;
};

/// The first row whose scores are not finite before the intercepts are added: each row that has an entry
/// which is not finite, and those that overflow.
inline constexpr std::int64_t no_row = -1;

/// By at most `n_jobs` threads; an interrupt ends it.
template <class T>
std::int64_t compute_scores(const StridedRows<T>& rows, const ScoreWeights& weights, const ScoresTo& to,
                            std::size_t n_jobs, Monitor& monitor);

inline constexpr std::int64_t broken_rows = -2;

/// `broken_rows` where the rows reach out of the arrays, which have `n_stored` entries, or of the weights.
template <class T, class Index>
std::int64_t compute_scores(const CsrRows<T, Index>& rows, std::size_t n_stored, const ScoreWeights& weights,
                            const ScoresTo& to, std::size_t n_jobs, Monitor& monitor);

}  // namespace pegasos
