// Decimal numbers in svmlight text: quick where they are short, std::from_chars and std::to_chars otherwise.
// Either way correctly rounded, shortest, and deaf to the locale.
//
// The quick way takes eight bytes at a time as one integer, finds where its digits end without a loop and
// adds them up with three multiplications, so that lengths that vary cost no mispredicted branches.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace pegasos::svmlight {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool ends_token(char c) { return is_blank(c) || c == '#'; }

/// Bytes that the quick ways may read past their start.
inline constexpr std::ptrdiff_t lookahead = 32;

inline std::uint64_t load_bytes(const char* p) {
    std::uint64_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
    return bytes;
}

struct Digits {
    unsigned count;  // from 0 to 8
    std::uint64_t value;
};

/// All bits, or none: what a branch would choose, without one.
inline std::uint64_t mask_if(bool condition) { return -static_cast<std::uint64_t>(condition); }

/// 64 for 0. gcc 12 makes a branch of std::countr_zero for that.
inline unsigned count_trailing_zeros(std::uint64_t bits) {
#ifdef __BMI__
    return static_cast<unsigned>(__builtin_ia32_tzcnt_u64(bits));
#else
    return static_cast<unsigned>(std::countr_zero(bits));
#endif
}

/// The digits at the start of eight bytes.
[[gnu::always_inline]] inline Digits leading_digits(std::uint64_t bytes) {
    const std::uint64_t digits = bytes ^ 0x3030303030303030;
    // The high bit of bytes above 9. A carry disturbs only bytes after the first of them.
    const std::uint64_t others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
    const unsigned bits = count_trailing_zeros(others) & ~7u;
    std::uint64_t sum = (digits << ((64 - bits) & 63)) & mask_if(bits != 0);
    sum = ((sum * 2561) >> 8) & 0x00ff00ff00ff00ff;      // pairs: 10 a + b
    sum = ((sum * 6553601) >> 16) & 0x0000ffff0000ffff;  // fours
    return {bits / 8, (sum * 42949672960001) >> 32};
}

/// digits / 10^decimals, rounded once, for digits of 2^53 and above and at most 16 decimals.
inline double divide_exactly(std::uint64_t digits, std::uint64_t power) {
    __extension__ using Wide = unsigned __int128;
    const Wide numerator = static_cast<Wide>(digits) << 55;
    const Wide quotient = numerator / power;  // at least 55 bits: two more than a double has
    const auto high = static_cast<std::uint64_t>(quotient >> 64);
    const int length =
        high ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<std::uint64_t>(quotient));
    const int extra = length > 62 ? length - 62 : 0;
    // The last bit stands for all that is cut off, so that the conversion rounds as if it saw it.
    const bool inexact =
        quotient * power != numerator || (quotient & ((static_cast<Wide>(1) << extra) - 1)) != 0;
    const auto leading = static_cast<std::int64_t>(quotient >> extra) | inexact;
    const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + extra - 55) << 52);
    return static_cast<double>(leading) * scale;
}

/// Reads [-]digits[.digits] up to a token's end or `stop` where that is easy; otherwise returns `start` and
/// leaves the work to from_chars. Bytes before `limit` may be read, past `stop` too.
template <class T>
[[gnu::always_inline]] inline const char* read_short(const char* start, const char* stop, const char* limit,
                                                     T& result) {
    static constexpr std::uint64_t powers[] = {1,
                                               10,
                                               100,
                                               1'000,
                                               10'000,
                                               100'000,
                                               1'000'000,
                                               10'000'000,
                                               100'000'000,
                                               1'000'000'000,
                                               10'000'000'000,
                                               100'000'000'000,
                                               1'000'000'000'000,
                                               10'000'000'000'000,
                                               100'000'000'000'000,
                                               1'000'000'000'000'000,
                                               10'000'000'000'000'000};
    static constexpr double divisors[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                          1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};
    if (limit - start < lookahead) return start;
    const bool negative = *start == '-';
    const char* p = start + negative;
    const Digits whole = leading_digits(load_bytes(p));
    p += whole.count;
    std::uint64_t digits = whole.value;
    unsigned decimals = 0;
    if (*p == '.') {
        const Digits first = leading_digits(load_bytes(p + 1));
        Digits second = leading_digits(load_bytes(p + 9));
        second.count &= static_cast<unsigned>(mask_if(first.count == 8));
        second.value &= mask_if(first.count == 8);
        decimals = first.count + second.count;
        digits = (digits * powers[first.count] + first.value) * powers[second.count] + second.value;
        p += 1 + decimals;
    }
    // At least one digit, and no more than fit the sum.
    if (whole.count + decimals - 1 > 18 || !(p == stop || ends_token(*p))) return start;
    double value;
    if (digits <= std::uint64_t{1} << 53) [[likely]]
        value = static_cast<double>(static_cast<std::int64_t>(digits)) / divisors[decimals];
    else
        value = divide_exactly(digits, powers[decimals]);
    // Rounding to double and then to float is rounding once, unless the double is halfway between two floats.
    if constexpr (std::is_same_v<T, float>)
        if ((std::bit_cast<std::uint64_t>(value) & 0x1fffffff) == 0x10000000) return start;
    const std::uint64_t sign = static_cast<std::uint64_t>(negative) << 63;
    result = static_cast<T>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | sign));
    return p;
}

/// Of a decimal number that from_chars found out of range: is it too large (or else too small)?
inline bool is_too_large(std::string_view number) {
    std::int64_t point = 0;  // the number is 0.d1d2d3... times ten to this power, d1 not zero
    bool seen_point = false, seen_digit = false;
    std::size_t i = 0;
    for (; i < number.size() && number[i] != 'e' && number[i] != 'E'; ++i) {
        if (number[i] == '.') seen_point = true;
        if (!is_digit(number[i])) continue;
        seen_digit = seen_digit || number[i] != '0';
        point += seen_point ? -!seen_digit : seen_digit;
    }
    if (i == number.size()) return point > 0;
    std::string_view exponent = number.substr(i + 1);
    if (!exponent.empty() && exponent[0] == '+') exponent.remove_prefix(1);
    std::int64_t power = 0;
    const auto parsed = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
    if (parsed.ec == std::errc::result_out_of_range) return exponent[0] != '-';
    return power > -point;
}

/// Writes the shortest text that reads back as `value`, whole numbers without an exponent: 100000, not 1e+05.
template <class T>
char* write_number(char* out, char* end, T value) {
    const bool negative_zero = value == 0 && std::signbit(value);
    if (std::abs(value) < T(1e15) && value == std::trunc(value) && !negative_zero)
        return std::to_chars(out, end, static_cast<std::int64_t>(value)).ptr;
    return std::to_chars(out, end, value).ptr;
}

}  // namespace pegasos::svmlight
