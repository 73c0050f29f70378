// CRC-32 as zlib has it, several times as fast: a data set is compared with its checksums whenever it is
// read.
//
// The bytes are the coefficients of a polynomial over two elements, of which the checksum is the rest modulo
// P, with the bits of every byte in reversed order. Where the processor multiplies such polynomials, four
// lanes of 16 bytes are moved on by 64 bytes at a time: by x^512 mod P, of which either half of a lane takes
// its own part (Gopal and others, "Fast CRC computation for generic polynomials using PCLMULQDQ instruction",
// 2009). Elsewhere tables take 8 bytes at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pegasos::crc32 {

inline constexpr std::uint32_t polynomial = 0xEDB88320;  // P less its highest term, reversed

/// tables[k][b]: the rest of byte b before k others.
inline constexpr auto tables = [] {
    std::array<std::array<std::uint32_t, 256>, 8> found{};
    for (std::uint32_t b = 0; b < 256; ++b) {
        std::uint32_t rest = b;
        for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest & 1 ? polynomial : 0);
        found[0][b] = rest;
    }
    for (std::size_t k = 1; k < 8; ++k)
        for (std::size_t b = 0; b < 256; ++b)
            found[k][b] = (found[k - 1][b] >> 8) ^ found[0][found[k - 1][b] & 255];
    return found;
}();

/// The rest after so many bytes more; not inverted, as checksums are.
inline std::uint32_t add_by_table(std::uint32_t rest, const unsigned char* bytes, std::size_t count) {
    if constexpr (std::endian::native == std::endian::little)
        for (; count >= 8; bytes += 8, count -= 8) {
            std::uint32_t low, high;
            std::memcpy(&low, bytes, 4);
            std::memcpy(&high, bytes + 4, 4);
            low ^= rest;
            rest = 0;
            for (int k = 0; k < 4; ++k)
                rest ^= tables[7 - k][low >> 8 * k & 255] ^ tables[3 - k][high >> 8 * k & 255];
        }
    for (; count > 0; ++bytes, --count) rest = (rest >> 8) ^ tables[0][(rest ^ *bytes) & 255];
    return rest;
}

/// a b mod P; 1 is the highest bit.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
    std::uint32_t product = 0;
    for (std::uint32_t bit = 1u << 31; bit > 0; bit >>= 1) {
        if (a & bit) product ^= b;
        b = (b >> 1) ^ (b & 1 ? polynomial : 0);
    }
    return product;
}

/// x^n mod P.
constexpr std::uint32_t power(std::uint64_t n) {
    std::uint32_t found = 1u << 31;
    for (std::uint32_t square = 1u << 30; n > 0; n >>= 1, square = multiply(square, square))
        if (n & 1) found = multiply(found, square);
    return found;
}

#if defined(__x86_64__)
/// What moves 16 bytes on by so many: factors of their first and last 8. A product of reversed numbers has
/// its bits one place off.
template <std::uint64_t bytes>
__m128i moving_by() {
    constexpr std::uint64_t first = std::uint64_t{power(8 * bytes + 32)} << 1;
    constexpr std::uint64_t last = std::uint64_t{power(8 * bytes - 32)} << 1;
    return _mm_set_epi64x(static_cast<long long>(last), static_cast<long long>(first));
}

/// The same for a multiple of 64 bytes: four lanes of 16.
__attribute__((target("pclmul"))) inline std::uint32_t add_by_lanes(std::uint32_t rest,
                                                                    const unsigned char* bytes,
                                                                    std::size_t count) {
    const auto load = [](const unsigned char* from) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    const __m128i by_64 = moving_by<64>(), by_16 = moving_by<16>();
    __m128i lanes[4];
    for (int k = 0; k < 4; ++k) lanes[k] = load(bytes + 16 * k);
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(rest)));
    for (bytes += 64, count -= 64; count > 0; bytes += 64, count -= 64)
        for (int k = 0; k < 4; ++k) {
            const __m128i first = _mm_clmulepi64_si128(lanes[k], by_64, 0x00);
            const __m128i last = _mm_clmulepi64_si128(lanes[k], by_64, 0x11);
            lanes[k] = _mm_xor_si128(_mm_xor_si128(first, last), load(bytes + 16 * k));
        }
    for (int k = 1; k < 4; ++k) {
        const __m128i first = _mm_clmulepi64_si128(lanes[0], by_16, 0x00);
        const __m128i last = _mm_clmulepi64_si128(lanes[0], by_16, 0x11);
        lanes[0] = _mm_xor_si128(_mm_xor_si128(first, last), lanes[k]);
    }
    unsigned char left[16];  // has the same rest as all of it
    _mm_storeu_si128(reinterpret_cast<__m128i*>(left), lanes[0]);
    return add_by_table(0, left, sizeof(left));
}

/// The same for a multiple of 256 bytes: four times four lanes.
__attribute__((target("avx512f,pclmul,vpclmulqdq"))) inline std::uint32_t add_by_wide_lanes(
    std::uint32_t rest, const unsigned char* bytes, std::size_t count) {
    const __m512i by_256 = _mm512_maskz_broadcast_i32x4(0xffff, moving_by<256>());
    __m512i lanes[4];
    for (int k = 0; k < 4; ++k) lanes[k] = _mm512_loadu_si512(bytes + 64 * k);
    const __m128i before = _mm_cvtsi32_si128(static_cast<int>(rest));
    lanes[0] = _mm512_xor_si512(lanes[0], _mm512_inserti32x4(_mm512_setzero_si512(), before, 0));
    for (bytes += 256, count -= 256; count > 0; bytes += 256, count -= 256)
        for (int k = 0; k < 4; ++k) {
            const __m512i first = _mm512_clmulepi64_epi128(lanes[k], by_256, 0x00);
            const __m512i last = _mm512_clmulepi64_epi128(lanes[k], by_256, 0x11);
            lanes[k] = _mm512_xor_si512(_mm512_xor_si512(first, last), _mm512_loadu_si512(bytes + 64 * k));
        }
    unsigned char left[256];  // has the same rest as all of it
    for (int k = 0; k < 4; ++k) _mm512_storeu_si512(left + 64 * k, lanes[k]);
    return add_by_lanes(0, left, sizeof(left));
}
#endif

/// The checksum of bytes, after those that have the checksum `before`.
inline std::uint32_t of(const unsigned char* bytes, std::size_t count, std::uint32_t before = 0) {
    std::uint32_t rest = ~before;
#if defined(__x86_64__)
    static const bool multiplies = __builtin_cpu_supports("pclmul");
    static const bool widely =
        multiplies && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
    const auto add_whole = [&](auto add, bool can, std::size_t step) {
        const std::size_t whole = can ? count / step * step : 0;
        if (whole > 0) rest = add(rest, bytes, whole);
        bytes += whole;
        count -= whole;
    };
    add_whole(add_by_wide_lanes, widely, 256);
    add_whole(add_by_lanes, multiplies, 64);
#endif
    return ~add_by_table(rest, bytes, count);
}

/// powers[k]: x^(8 * 2^k) mod P, by which a byte goes before 2^k others.
inline constexpr auto powers = [] {
    std::array<std::uint32_t, 64> found{power(8)};
    for (std::size_t k = 1; k < found.size(); ++k) found[k] = multiply(found[k - 1], found[k - 1]);
    return found;
}();

/// The checksum of bytes that consist of two parts, of their checksums and the length of the second.
inline std::uint32_t joined(std::uint32_t first, std::uint32_t second, std::uint64_t length) {
    for (std::size_t k = 0; length > 0; ++k, length >>= 1)
        if (length & 1) first = multiply(powers[k], first);
    return first ^ second;
}

}  // namespace pegasos::crc32
