#include "classes/class_matrix.hpp"

#include <cstring>

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
