// Squares of numbers, turned over in registers.
#pragma once

#include <cstddef>
#include <utility>

namespace pegasos {

/// The halves, quarters, ... of `half` numbers in which two rows of a square change places.
template <std::size_t half, class Line, std::size_t... p>
[[gnu::always_inline]] inline void exchange(Line& a, Line& b, std::index_sequence<p...>) {
    constexpr std::size_t lane = sizeof...(p);
    const Line low = __builtin_shufflevector(a, b, (p & half ? lane + p - half : p)...);
    b = __builtin_shufflevector(a, b, (p & half ? lane + p : p + half)...);
    a = low;
}

/// Rows of `lane` numbers and columns change places: halves of rows do, then quarters (half / 2), and so on.
template <std::size_t half, std::size_t lane, class Line>
[[gnu::always_inline]] inline void exchange_all(Line* rows) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < lane; ++i)
        if (!(i & half)) exchange<half>(rows[i], rows[i + half], std::make_index_sequence<lane>());
    if constexpr (half > 1) exchange_all<half / 2, lane>(rows);
}

/// out[r][offset + i] = in[i][r] for a square of as many numbers as a cache line has; rows of `in` are
/// `stride` lines apart.
template <class Real>
void transpose_square(const Real* in, std::size_t stride, Real* const* out, std::size_t offset) {
    constexpr std::size_t lane = 64 / sizeof(Real);
    typedef Real Line __attribute__((vector_size(64), aligned(64), may_alias));
    typedef Real Anywhere __attribute__((vector_size(64), aligned(sizeof(Real)), may_alias));
    Line rows[lane];
    for (std::size_t i = 0; i < lane; ++i) rows[i] = reinterpret_cast<const Line*>(in)[i * stride];
    exchange_all<lane / 2, lane>(rows);
    for (std::size_t r = 0; r < lane; ++r) *reinterpret_cast<Anywhere*>(out[r] + offset) = rows[r];
}

}  // namespace pegasos
