// Squares of numbers, turned over in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pegasos {

/// out[r][offset + i] = in[i][r] for a square of as many numbers as a cache line has; rows of `in` are
/// `stride` lines apart. Halves of rows change places, then quarters, and so on.
template <class Real>
void transpose_square(const Real* in, std::size_t stride, Real* const* out, std::size_t offset) {
    constexpr std::size_t lane = 64 / sizeof(Real);
    typedef Real Line __attribute__((vector_size(64), aligned(64), may_alias));
    typedef Real Anywhere __attribute__((vector_size(64), aligned(sizeof(Real)), may_alias));
    using Number = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
    typedef Number Numbers __attribute__((vector_size(64)));
    Line rows[lane];
    for (std::size_t i = 0; i < lane; ++i) rows[i] = reinterpret_cast<const Line*>(in)[i * stride];
#pragma GCC unroll 4
    for (std::size_t half = lane / 2; half > 0; half /= 2) {
        Numbers low, high;
        for (std::size_t p = 0; p < lane; ++p) {
            low[p] = static_cast<Number>(p & half ? lane + p - half : p);
            high[p] = static_cast<Number>(p & half ? lane + p : p + half);
        }
#pragma GCC unroll 16
        for (std::size_t i = 0; i < lane; ++i) {
            if (i & half) continue;
            const Line a = rows[i], b = rows[i + half];
            rows[i] = __builtin_shuffle(a, b, low);
            rows[i + half] = __builtin_shuffle(a, b, high);
        }
    }
    for (std::size_t r = 0; r < lane; ++r) *reinterpret_cast<Anywhere*>(out[r] + offset) = rows[r];
}

}  // namespace pegasos
