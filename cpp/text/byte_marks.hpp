// Where certain bytes stand in a text, 64 bytes at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace pegasos {

/// Bit k: whether byte k of 64 is one of these.
template <char... marks>
std::uint64_t find_marks(const char* bytes) {
#if defined(__AVX512BW__)
    const __m512i block = _mm512_loadu_si512(bytes);
    return (_mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(marks)) | ...);
#elif defined(__AVX2__)
    const auto half = [&](int k) -> std::uint64_t {
        const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes) + k);
        return (static_cast<std::uint32_t>(
                    _mm256_movemask_epi8(_mm256_cmpeq_epi8(block, _mm256_set1_epi8(marks)))) |
                ...);
    };
    return half(0) | half(1) << 32;
#elif defined(__SSE2__)
    const auto quarter = [&](int k) -> std::uint64_t {
        const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + k);
        return (static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8(marks)))) |
                ...);
    };
    return quarter(0) | quarter(1) << 16 | quarter(2) << 32 | quarter(3) << 48;
#else
    std::uint64_t found = 0;
    for (int k = 0; k < 64; ++k) found |= std::uint64_t{((bytes[k] == marks) || ...)} << k;
    return found;
#endif
}

/// Visits the places of these bytes in a text that ends with one of them, one after the other.
template <char... marks>
class Marks {
public:
    Marks(const char* begin, const char* end) : base_(begin), end_(end) { load(); }

    /// The next place. There must be one.
    const char* next() {
        while (found_ == 0) {
            base_ += 64;
            load();
        }
        const char* place = base_ + std::countr_zero(found_);
        found_ &= found_ - 1;
        return place;
    }

private:
    void load() {
        if (end_ - base_ >= 64) {
            found_ = find_marks<marks...>(base_);
            return;
        }
        char last[64] = {};  // not to read past the end
        std::memcpy(last, base_, static_cast<std::size_t>(end_ - base_));
        found_ = find_marks<marks...>(last);
    }

    const char *base_, *end_;
    std::uint64_t found_;
};

}  // namespace pegasos
