// The examples: dense or CSR rows of float or double, used in place. Nothing else in the core knows storage.
//
// A row ends in a constant feature `bias` (S0 section 6, first approach; 0 when there is no intercept), so a
// weight vector has n_features + 1 entries. Weight vectors are double whatever the data: Pegasos accumulates
// 1e9 small steps into one vector, where float would lose them, and the data, not the vector, is what fills
// the memory bus.
#pragma once

#include <algorithm>
#include <cstddef>

namespace pegasos {

// Into the second-level cache: that takes more requests at a time than the first. To gcc a loop of nothing
// but prefetches has no effect, and it deletes it; the empty volatile statement keeps it.
inline void prefetch(const void* address) {
    __builtin_prefetch(address, 0, 2);
    asm volatile("");
}

/// Asks for the cache lines of [first, last), at most `most` of them: the hardware follows on by itself.
template <class T>
void prefetch_span(const T* first, const T* last, int most = 12) {
    constexpr std::ptrdiff_t line = 64 / sizeof(T);
#pragma GCC unroll 1
    for (; first < last && most > 0; first += line, --most) prefetch(first);
}

/// Asks for the rows to come: order[p] is visited now, `end` visits there are, and `kept` is read by row
/// number. Rows of which a visit takes longer are asked for later.
template <std::size_t far = 32, std::size_t near = 16, class Rows, class Row, class Kept>
[[gnu::always_inline]] inline void prefetch_ahead(const Rows& rows, const Row* order, std::size_t p,
                                                  std::size_t end, const Kept* kept) {
    if (p + far < end) {
        rows.prefetch_start(order[p + far]);
        prefetch(&kept[order[p + far]]);
    }
    if (p + near < end) rows.prefetch_row(order[p + near]);
}

/// Entries of vectors w that the second-level cache holds. Of larger ones it pays to ask for what the row
/// after the next will meet; of smaller ones that takes longer than to wait for it.
constexpr std::size_t cached_weights = 1 << 17;

/// What `v += c * row` met: <v, row> before the change, and <row, row>. Enough to keep ||v||^2 current.
struct Added {
    double dot;
    double square;
};

template <class T>
struct DenseRows {
    const T* values;
    std::size_t n_rows;
    std::size_t n_features;
    std::size_t stride;  // from one row to the next, in entries
    double bias;
    bool rescaled = false;            // columns of X were divided by their sizes, as will be the weights
    const double* squares = nullptr;  // the squared norms, once `inspect` has found them

    const T* row(std::size_t i) const { return values + i * stride; }
    std::size_t entries(std::size_t) const { return n_features; }

    /// Inlined: of short rows a call takes as long as the sum.
    [[gnu::always_inline]] double dot(std::size_t i, const double* v) const {
        const T* x = row(i);
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t j = 0; j < n_features; ++j) sum += static_cast<double>(x[j]) * v[j];
        return sum + bias * v[n_features];
    }

    void add(std::size_t i, double c, double* v) const {
        const T* x = row(i);
#pragma omp simd
        for (std::size_t j = 0; j < n_features; ++j) v[j] += c * static_cast<double>(x[j]);
        v[n_features] += c * bias;
    }

    Added add_tracked(std::size_t i, double c, double* v) const {
        const T* x = row(i);
        double dot = 0, square = 0;
#pragma omp simd reduction(+ : dot, square)
        for (std::size_t j = 0; j < n_features; ++j) {
            const double xj = x[j];
            dot += v[j] * xj;
            square += xj * xj;
            v[j] += c * xj;
        }
        dot += v[n_features] * bias;
        square += bias * bias;
        v[n_features] += c * bias;
        return {dot, square};
    }

    /// f(column, value) of the entries, the constant feature included.
    template <class F>
    void for_each(std::size_t i, F f) const {
        const T* x = row(i);
        for (std::size_t j = 0; j < n_features; ++j)
            if (x[j] != 0) f(j, static_cast<double>(x[j]));
        if (bias != 0) f(n_features, bias);
    }

    double squared_norm(std::size_t i) const {
        if (squares) return squares[i];
        const T* x = row(i);
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t j = 0; j < n_features; ++j)
            sum += static_cast<double>(x[j]) * static_cast<double>(x[j]);
        return sum + bias * bias;
    }

    /// out = c * row, the constant feature included.
    void spread(std::size_t i, double c, double* out) const {
        const T* x = row(i);
#pragma omp simd
        for (std::size_t j = 0; j < n_features; ++j) out[j] = c * static_cast<double>(x[j]);
        out[n_features] = c * bias;
    }

    /// M += c * row' row: the upper triangle of a matrix of rows `stride` apart.
    void add_outer(std::size_t i, double c, double* M, std::size_t stride) const {
        const T* x = row(i);
        for (std::size_t j = 0; j < n_features; ++j, M += stride) {
            const double cx = c * static_cast<double>(x[j]);
#pragma omp simd
            for (std::size_t k = j; k < n_features; ++k) M[k] += cx * static_cast<double>(x[k]);
            M[n_features] += cx * bias;
        }
        M[n_features] += c * bias * bias;
    }

    void prefetch_start(std::size_t) const {}
    void prefetch_row(std::size_t i) const { prefetch_span(row(i), row(i) + n_features); }
    void prefetch_weights(std::size_t, const double*) const {}  // the hardware follows by itself
};

template <class T, class Index>
struct CsrRows {
    const T* values;
    const Index* columns;
    const Index* starts;  // n_rows + 1 of them
    std::size_t n_rows;
    std::size_t n_features;
    double bias;
    bool rescaled = false;
    const double* squares = nullptr;

    std::size_t entries(std::size_t i) const { return static_cast<std::size_t>(starts[i + 1] - starts[i]); }

    // Four partial sums hide the latency of the additions; gcc would not do it, nor are gathers faster.
    double dot(std::size_t i, const double* v) const {
        const Index end = starts[i + 1];
        double sum[4] = {bias * v[n_features], 0, 0, 0};
        Index k = starts[i];
        for (; k + 3 < end; k += 4)
            for (int lane = 0; lane < 4; ++lane)
                sum[lane] += static_cast<double>(values[k + lane]) * v[columns[k + lane]];
        for (; k < end; ++k) sum[0] += static_cast<double>(values[k]) * v[columns[k]];
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }

    void add(std::size_t i, double c, double* v) const {
        const Index end = starts[i + 1];
        for (Index k = starts[i]; k < end; ++k) v[columns[k]] += c * static_cast<double>(values[k]);
        v[n_features] += c * bias;
    }

    // One entry after the other, so that a column that stands twice in a row counts twice, here as in `dot`.
    // Two partial sums hide the latency of the additions.
    Added add_tracked(std::size_t i, double c, double* v) const {
        double dot[2] = {v[n_features] * bias, 0}, square[2] = {bias * bias, 0};
        v[n_features] += c * bias;
        const Index end = starts[i + 1];
        const auto one = [&](Index k, int lane) {
            const double x = values[k];
            double& slot = v[columns[k]];
            dot[lane] += slot * x;
            square[lane] += x * x;
            slot += c * x;
        };
        Index k = starts[i];
        for (; k + 1 < end; k += 2) {
            one(k, 0);
            one(k + 1, 1);
        }
        if (k < end) one(k, 0);
        return {dot[0] + dot[1], square[0] + square[1]};
    }

    template <class F>
    void for_each(std::size_t i, F f) const {
        const Index end = starts[i + 1];
        for (Index k = starts[i]; k < end; ++k)
            f(static_cast<std::size_t>(columns[k]), static_cast<double>(values[k]));
        if (bias != 0) f(n_features, bias);
    }

    double squared_norm(std::size_t i) const {
        if (squares) return squares[i];
        const Index end = starts[i + 1];
        double sum[8] = {bias * bias};  // as many as gcc makes of a reduction are too few for short rows
        Index k = starts[i];
        for (; k + 7 < end; k += 8)
            for (int lane = 0; lane < 8; ++lane) {
                const double x = values[k + lane];
                sum[lane] += x * x;
            }
        for (; k < end; ++k) {
            const double x = values[k];
            sum[k & 1] += x * x;
        }
        return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }

    void spread(std::size_t i, double c, double* out) const {
        std::fill(out, out + n_features, 0.0);
        for (Index k = starts[i]; k < starts[i + 1]; ++k)
            out[columns[k]] += c * static_cast<double>(values[k]);
        out[n_features] = c * bias;
    }

    // Trusts that the columns of a row rise, as `pegasos.base.rows.make_rows` sees to. Four rows of M at a
    // time: the ends of many short loops, which no processor foresees, would cost as much as the sums.
    void add_outer(std::size_t i, double c, double* M, std::size_t stride) const {
        constexpr int together = 4;
        const Index end = starts[i + 1];
        Index j = starts[i];
        for (; j + together <= end; j += together) {
            double cx[together], *m[together];
            for (int r = 0; r < together; ++r) {
                cx[r] = c * static_cast<double>(values[j + r]);
                m[r] = M + static_cast<std::size_t>(columns[j + r]) * stride;
                m[r][n_features] += cx[r] * bias;
                for (int k = 0; k <= r; ++k)
                    m[k][columns[j + r]] += cx[k] * static_cast<double>(values[j + r]);
            }
            for (Index k = j + together; k < end; ++k) {
                const auto column = columns[k];
                const double x = values[k];
                for (int r = 0; r < together; ++r) m[r][column] += cx[r] * x;
            }
        }
        for (; j < end; ++j) {
            const double cx = c * static_cast<double>(values[j]);
            double* m = M + static_cast<std::size_t>(columns[j]) * stride;
            for (Index k = j; k < end; ++k) m[columns[k]] += cx * static_cast<double>(values[k]);
            m[n_features] += cx * bias;
        }
        M[n_features * stride + n_features] += c * bias * bias;
    }

    void prefetch_start(std::size_t i) const { prefetch(starts + i); }
    void prefetch_row(std::size_t i) const {
        prefetch_span(columns + starts[i], columns + starts[i + 1]);
        prefetch_span(values + starts[i], values + starts[i + 1]);
    }
    /// Asks for the entries of v that the row meets.
    void prefetch_weights(std::size_t i, const double* v) const {
#pragma GCC unroll 4
        for (Index k = starts[i]; k < starts[i + 1]; ++k) prefetch(v + columns[k]);
    }
};

}  // namespace pegasos
