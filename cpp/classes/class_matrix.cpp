#include "classes/class_matrix.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "rows/rows.hpp"

namespace pegasos {

namespace {

template <class Real>
struct Lanes {
    typedef Real Type __attribute__((vector_size(64), may_alias));
    static constexpr std::size_t width = 64 / sizeof(Real);
};

/// The scores of some classes, in registers until the row ends.
template <std::size_t Classes, class Rows, class Real>
void score_block(const Rows& rows, std::size_t i, const Real* W, std::size_t stride, double* f) {
    using Vector = typename Lanes<Real>::Type;
    constexpr std::size_t count = Classes / Lanes<Real>::width;
    Vector sum[count] = {};
    rows.for_each(i, [&](std::size_t j, double x) __attribute__((always_inline)) {
        const Vector* w = reinterpret_cast<const Vector*>(W + j * stride);
        const Real value = static_cast<Real>(x);
#pragma GCC unroll 8
        for (std::size_t v = 0; v < count; ++v) sum[v] += value * w[v];
    });
    alignas(64) Real out[Classes];
    std::memcpy(out, sum, sizeof(out));
    for (std::size_t k = 0; k < Classes; ++k) f[k] = static_cast<double>(out[k]);
}

}  // namespace

template <class Rows, class Real>
void ClassLoops<Rows, Real>::scores(const Rows& rows, std::size_t i, const Real* W, std::size_t stride,
                                    double* f) {
    constexpr std::size_t block = 64;
    for (std::size_t at = 0; at < stride; at += block) {
        const std::size_t left = std::min(stride - at, block);
        if (left == 64)
            score_block<64>(rows, i, W + at, stride, f + at);
        else if (left == 48)
            score_block<48>(rows, i, W + at, stride, f + at);
        else if (left == 32)
            score_block<32>(rows, i, W + at, stride, f + at);
        else
            score_block<16>(rows, i, W + at, stride, f + at);
    }
}

template <class Rows, class Real>
void ClassLoops<Rows, Real>::add(const Rows& rows, std::size_t i, const Real* step, Real* W,
                                 std::size_t stride) {
    using Vector = typename Lanes<Real>::Type;
    rows.for_each(i, [&](std::size_t j, double x) {
        Vector* w = reinterpret_cast<Vector*>(W + j * stride);
        const Vector* d = reinterpret_cast<const Vector*>(step);
        const Real value = static_cast<Real>(x);
        for (std::size_t v = 0; v < stride / Lanes<Real>::width; ++v) w[v] += value * d[v];
    });
}

template <class Rows, class Real>
void ClassLoops<Rows, Real>::add(const Rows& rows, std::size_t i, double c,
                                 std::span<const ClassChange> changes, Real* W, std::size_t stride) {
    rows.for_each(i, [&](std::size_t j, double x) {
        Real* w = W + j * stride;
        const double cx = c * x;
        for (const auto& [k, change] : changes) w[k] += static_cast<Real>(cx * change);
    });
}

namespace {

using Eight = Lanes<double>::Type;
constexpr std::size_t n_lanes = Lanes<double>::width;

/// Rows at a time: their sums of two vectors each have to stay in registers.
#ifdef __AVX512F__
constexpr std::size_t rows_at_once = 8;
#else
constexpr std::size_t rows_at_once = 2;
#endif

/// Calls look(j, x, apart) for all columns and the constant feature; entry j of row first + r is x[r *
/// apart].
template <class T, class Look>
[[gnu::always_inline]] inline void for_each_column(const DenseRows<T>& rows, std::size_t first, Look look) {
    const std::size_t d = rows.n_features;
    if constexpr (std::is_same_v<T, double>) {
        for (std::size_t j = 0; j < d; ++j) look(j, rows.row(first) + j, rows.stride);
    } else {
        constexpr std::size_t some = 64;  // entries of a row that are made doubles at a time
        alignas(64) double x[rows_at_once * some];
        for (std::size_t j = 0; j < d; j += some) {
            const std::size_t count = std::min(some, d - j);
            for (std::size_t r = 0; r < rows_at_once; ++r) {
                const T* from = rows.row(first + r) + j;
                for (std::size_t k = 0; k < count; ++k) x[r * some + k] = static_cast<double>(from[k]);
            }
            for (std::size_t k = 0; k < count; ++k) look(j + k, x + k, some);
        }
    }
    if (rows.bias != 0) look(d, &rows.bias, 0);
}

/// f of several rows and `Count` vectors of classes.
template <std::size_t Count, class T>
void score_dense(const DenseRows<T>& rows, std::size_t first, const double* W, std::size_t stride,
                 double* f) {
    Eight sums[rows_at_once][Count] = {};
    for_each_column(rows, first,
                    [&](std::size_t j, const double* x, std::size_t apart) __attribute__((always_inline)) {
                        const Eight* w = reinterpret_cast<const Eight*>(W + j * stride);
#pragma GCC unroll 8
                        for (std::size_t r = 0; r < rows_at_once; ++r)
                            for (std::size_t v = 0; v < Count; ++v) sums[r][v] += x[r * apart] * w[v];
                    });
    for (std::size_t r = 0; r < rows_at_once; ++r) std::memcpy(f + r * stride, sums[r], sizeof(sums[r]));
}

/// W <- W + x' step of several rows and `Count` vectors of classes; on request with the squares of x.
template <std::size_t Count, bool squared, class T>
void add_dense(const DenseRows<T>& rows, std::size_t first, const double* step, double* W,
               std::size_t stride) {
    Eight steps[rows_at_once][Count];
    for (std::size_t r = 0; r < rows_at_once; ++r) std::memcpy(steps[r], step + r * stride, sizeof(steps[r]));
    for_each_column(rows, first,
                    [&](std::size_t j, const double* x, std::size_t apart) __attribute__((always_inline)) {
                        Eight *w = reinterpret_cast<Eight*>(W + j * stride), sum[Count];
                        for (std::size_t v = 0; v < Count; ++v) sum[v] = w[v];
#pragma GCC unroll 8
                        for (std::size_t r = 0; r < rows_at_once; ++r) {
                            const double value = squared ? x[r * apart] * x[r * apart] : x[r * apart];
                            for (std::size_t v = 0; v < Count; ++v) sum[v] += value * steps[r][v];
                        }
                        for (std::size_t v = 0; v < Count; ++v) w[v] = sum[v];
                    });
}

/// Calls of_two(at) or of_one(at) for the classes from `at` on, in vectors of two, the last in one where that
/// will do.
template <class OfTwo, class OfOne>
void in_vectors(std::size_t n_classes, OfTwo of_two, OfOne of_one) {
    for (std::size_t at = 0; at < n_classes; at += 2 * n_lanes)
        if (n_classes - at > n_lanes)
            of_two(at);
        else
            of_one(at);
}

}  // namespace

template <class Rows>
void BlockLoops<Rows>::scores(const Rows& rows, std::size_t first, std::size_t last, const double* W,
                              std::size_t n_classes, double* f) {
    const std::size_t stride = padded(n_classes);
    std::size_t i = first;
    if constexpr (requires { rows.stride; })
        for (; i + rows_at_once <= last; i += rows_at_once, f += rows_at_once * stride)
            in_vectors(
                n_classes, [&](std::size_t at) { score_dense<2>(rows, i, W + at, stride, f + at); },
                [&](std::size_t at) { score_dense<1>(rows, i, W + at, stride, f + at); });
    for (; i < last; ++i, f += stride) ClassLoops<Rows, double>::scores(rows, i, W, stride, f);
}

namespace {

template <bool squared, class Rows>
void add_block(const Rows& rows, std::size_t first, std::size_t last, const double* step, double* W,
               std::size_t n_classes) {
    const std::size_t stride = padded(n_classes);
    std::size_t i = first;
    if constexpr (requires { rows.stride; })
        for (; i + rows_at_once <= last; i += rows_at_once, step += rows_at_once * stride)
            in_vectors(
                n_classes, [&](std::size_t at) { add_dense<2, squared>(rows, i, step + at, W + at, stride); },
                [&](std::size_t at) { add_dense<1, squared>(rows, i, step + at, W + at, stride); });
    for (; i < last; ++i, step += stride)
        if constexpr (squared)
            rows.for_each(i, [&](std::size_t j, double x) {
                for (std::size_t k = 0; k < stride; ++k) W[j * stride + k] += x * x * step[k];
            });
        else
            ClassLoops<Rows, double>::add(rows, i, step, W, stride);
}

}  // namespace

template <class Rows>
void BlockLoops<Rows>::add(const Rows& rows, std::size_t first, std::size_t last, const double* step,
                           double* W, std::size_t n_classes) {
    add_block<false>(rows, first, last, step, W, n_classes);
}

template <class Rows>
void BlockLoops<Rows>::add_squares(const Rows& rows, std::size_t first, std::size_t last, const double* step,
                                   double* W, std::size_t n_classes) {
    add_block<true>(rows, first, last, step, W, n_classes);
}

template struct BlockLoops<DenseRows<float>>;
template struct BlockLoops<DenseRows<double>>;
template struct BlockLoops<CsrRows<float, std::int32_t>>;
template struct BlockLoops<CsrRows<double, std::int32_t>>;
template struct BlockLoops<CsrRows<float, std::int64_t>>;
template struct BlockLoops<CsrRows<double, std::int64_t>>;
template struct ClassLoops<DenseRows<float>, float>;
template struct ClassLoops<DenseRows<float>, double>;
template struct ClassLoops<DenseRows<double>, float>;
template struct ClassLoops<DenseRows<double>, double>;
template struct ClassLoops<CsrRows<float, std::int32_t>, float>;
template struct ClassLoops<CsrRows<float, std::int32_t>, double>;
template struct ClassLoops<CsrRows<double, std::int32_t>, float>;
template struct ClassLoops<CsrRows<double, std::int32_t>, double>;
template struct ClassLoops<CsrRows<float, std::int64_t>, float>;
template struct ClassLoops<CsrRows<float, std::int64_t>, double>;
template struct ClassLoops<CsrRows<double, std::int64_t>, float>;
template struct ClassLoops<CsrRows<double, std::int64_t>, double>;
template struct ClassLoops<UnitRows, double>;

}  // namespace pegasos
