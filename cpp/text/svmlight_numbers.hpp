// Decimal numbers in svmlight text: quick where they are short, std::from_chars and std::to_chars otherwise.
// Either way correctly rounded, shortest, and deaf to the locale.
//
// The quick way takes eight bytes at a time as one integer, finds where its digits end without a loop and
// adds them up with three multiplications, so that lengths that vary cost no mispredicted branches.
// The other way, std::from_chars of gcc 12 and later, is the algorithm of the library fast_float: to depend
// on that library would change nothing there, and it has nothing that takes `index:value` 32 bytes at a time.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
#include <locale.h>
#include <stdlib.h>
#if __has_include(<xlocale.h>)
#include <xlocale.h>
#endif

#include <cctype>
#include <string>
#endif

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

inline constexpr std::uint64_t zeros = 0x3030303030303030;

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

/// The number that eight bytes from 0 to 9 are the digits of.
[[gnu::always_inline]] inline std::uint64_t add_up(std::uint64_t digits) {
    digits = ((digits * 2561) >> 8) & 0x00ff00ff00ff00ff;      // pairs: 10 a + b
    digits = ((digits * 6553601) >> 16) & 0x0000ffff0000ffff;  // fours
    return (digits * 42949672960001) >> 32;
}

/// The first `count` of eight digits, at most, as a number.
[[gnu::always_inline]] inline std::uint64_t first_digits(std::uint64_t bytes, unsigned count) {
    return add_up(((bytes ^ zeros) << ((64 - 8 * count) & 63)) & mask_if(count != 0));
}

/// The digits at the start of eight bytes.
[[gnu::always_inline]] inline Digits leading_digits(std::uint64_t bytes) {
    const std::uint64_t digits = bytes ^ zeros;
    // The high bit of bytes above 9. A carry disturbs only bytes after the first of them.
    const std::uint64_t others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
    const unsigned count = count_trailing_zeros(others) / 8;
    return {count, first_digits(bytes, count)};
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

/// Powers of ten, to the number of decimals that the quick ways take. All of them are numbers of either type.
inline constexpr unsigned most_decimals = 16;
template <class T>
inline constexpr auto powers = [] {
    std::array<T, most_decimals + 1> all{1};
    for (unsigned k = 1; k <= most_decimals; ++k) all[k] = 10 * all[k - 1];
    return all;
}();

/// digits / 10^decimals, rounded once; false where that takes more work.
template <class T>
[[gnu::always_inline]] inline bool make_number(std::uint64_t digits, unsigned decimals, bool negative,
                                               T& result) {
    double value;
    if (digits <= std::uint64_t{1} << 53) [[likely]]
        value = static_cast<double>(static_cast<std::int64_t>(digits)) / powers<double>[decimals];
    else
        value = divide_exactly(digits, powers<std::uint64_t>[decimals]);
    // Rounding to double and then to float is rounding once, unless the double is halfway between two floats.
    if constexpr (std::is_same_v<T, float>)
        if ((std::bit_cast<std::uint64_t>(value) & 0x1fffffff) == 0x10000000) return false;
    const std::uint64_t sign = static_cast<std::uint64_t>(negative) << 63;
    result = static_cast<T>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | sign));
    return true;
}

/// Reads [-]digits[.digits] up to a token's end or `stop` where that is easy; otherwise returns `start` and
/// leaves the work to from_chars. Bytes before `limit` may be read, past `stop` too.
template <class T>
[[gnu::always_inline]] inline const char* read_short(const char* start, const char* stop, const char* limit,
                                                     T& result) {
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
        digits = (digits * powers<std::uint64_t>[first.count] + first.value) *
                     powers<std::uint64_t>[second.count] +
                 second.value;
        p += 1 + decimals;
    }
    // At least one digit, and no more than fit the sum.
    if (whole.count + decimals - 1 > 18 || !(p == stop || ends_token(*p))) return start;
    return make_number(digits, decimals, negative, result) ? p : start;
}

#ifdef __SSE2__
/// Which of 32 bytes are no digits.
[[gnu::always_inline]] inline std::uint32_t find_others(const char* p) {
#ifdef __AVX2__
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const __m256i digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
    const __m256i others = _mm256_cmpeq_epi8(_mm256_max_epu8(digits, _mm256_set1_epi8(10)), digits);
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(others));
#else
    const auto half = [](const char* from) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
        const __m128i digits = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
        const __m128i others = _mm_cmpeq_epi8(_mm_max_epu8(digits, _mm_set1_epi8(10)), digits);
        return static_cast<std::uint32_t>(_mm_movemask_epi8(others));
    };
    return half(p) | half(p + 16) << 16;
#endif
}

/// Reads "index:value" where that is easy; otherwise returns `start`. All ends in it are found at once, so
/// that the next entry need not wait for the digits of this one.
template <class T>
[[gnu::always_inline]] inline const char* read_entry(const char* start, const char* stop, const char* limit,
                                                     std::int64_t& index, T& value) {
    if (limit - start < lookahead + 8) return start;
    std::uint32_t others = find_others(start);
    const unsigned colon = count_trailing_zeros(others);
    if (colon - 1 > 7 || start[colon] != ':') [[unlikely]]
        return start;
    others &= others - 1;
    const bool negative = start[colon + 1] == '-';
    others &= ~(static_cast<std::uint32_t>(negative) << (colon + 1));
    const unsigned begin = colon + 1 + negative;
    if (others == 0) [[unlikely]]
        return start;
    unsigned end = count_trailing_zeros(others);
    const unsigned n_whole = end - begin;
    if (n_whole - 1 > 7) [[unlikely]]
        return start;
    std::uint64_t digits = n_whole == 1 ? static_cast<std::uint64_t>(start[begin] - '0')  // as most are
                                        : first_digits(load_bytes(start + begin), n_whole);
    unsigned decimals = 0;
    if (start[end] == '.') {
        others &= others - 1;
        const unsigned first = end + 1;
        if (others == 0) [[unlikely]]
            return start;
        end = count_trailing_zeros(others);
        decimals = end - first;
        if (decimals > most_decimals || n_whole + decimals > 19) [[unlikely]]
            return start;
        // The last eight digits, and those before them.
        const unsigned n_high = (decimals - 8) & static_cast<unsigned>(mask_if(decimals > 8));
        const std::uint64_t high = first_digits(load_bytes(start + first), n_high);
        const std::uint64_t low = first_digits(load_bytes(start + first + n_high), decimals - n_high);
        digits = digits * powers<std::uint64_t>[decimals] + high * powers<std::uint64_t>[8] + low;
    }
    const char* const p = start + end;
    if (!(p == stop || ends_token(*p)) || !make_number(digits, decimals, negative, value)) [[unlikely]]
        return start;
    index = static_cast<std::int64_t>(first_digits(load_bytes(start), colon));
    return p;
}
#else
template <class T>
const char* read_entry(const char* start, const char*, const char*, std::int64_t&, T&) {
    return start;
}
#endif

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
/// What std::from_chars does, which libc++ has of such numbers from version 20 on; slower.
template <class Real>
std::from_chars_result from_chars(const char* first, const char* last, Real& value) {
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    const std::string text(first, last);
    const auto at = [&](std::size_t k) { return static_cast<unsigned char>(k < text.size() ? text[k] : 0); };
    const std::size_t digits = text.starts_with('-');
    if (!std::isalnum(at(digits)) && at(digits) != '.') return {first, std::errc::invalid_argument};
    if (at(digits) == '0' && std::tolower(at(digits + 1)) == 'x') {  // no hexadecimal numbers
        value = digits ? Real(-0.0) : Real(0);
        return {first + digits + 1, std::errc{}};
    }
    char* end = nullptr;
    Real found;
    if constexpr (std::is_same_v<Real, float>)
        found = strtof_l(text.c_str(), &end, plain);
    else
        found = strtod_l(text.c_str(), &end, plain);
    const char* const stop = first + (end - text.c_str());
    if (stop == first) return {first, std::errc::invalid_argument};
    const std::size_t some = text.find_first_of("123456789eE");
    const bool zero = some >= static_cast<std::size_t>(stop - first) || !is_digit(text[some]);
    if (std::isinf(found) ? !std::isalpha(at(digits)) : found == 0 && !zero)
        return {stop, std::errc::result_out_of_range};
    value = found;
    return {stop, std::errc{}};
}
#else
using std::from_chars;
#endif

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
