// Text in the svmlight / LIBSVM format, to CSR arrays and back.
//
//   file    = [UTF-8 byte order mark] line { "\n" line }
//   line    = [ label [ "qid:" integer ] { index ":" value } ] [ "#" anything ] [ "\r" ]
//   label   = value
//   index   = decimal digits, from 1 (from 0 in a zero-based file) to 2^31 - 2, increasing along the line
//   value   = [ "+" | "-" ] decimal number, with or without fraction and exponent; finite
//
// Spaces and tabs stand between label, qid and entries, and may stand at both ends of a line; none may stand
// around a colon. "#" ends an entry like a space does. A line without a label is no row. The qid is checked
// and dropped. A value too small for its type is 0; one too large is an error, as are "inf" and "nan", and as
// is a NUL byte wherever it stands, comments included. Columns of error messages count bytes from 1.
//
// Numbers are read by std::from_chars and written by std::to_chars: correctly rounded, shortest, and deaf to
// the locale.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pegasos::svmlight {

/// The largest index: 1 + index still fits a 32-bit number of features.
inline constexpr std::int64_t largest_index = std::numeric_limits<std::int32_t>::max() - 1;

struct ReadOptions {
    bool zero_based = false;
    std::int64_t n_features = -1;  // -1: as many as the text needs
    std::function<void()> poll;    // called now and then; may throw to end the work
};

/// CSR arrays. A column always fits 32 bits; a row start may not.
template <class T>
struct Table {
    std::vector<double> labels;
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> columns;
    std::vector<T> values;
    std::int64_t n_features = 0;  // the given number, or one more than the largest column
};

/// The text breaks the grammar. `what()` begins with the place.
class ParseError : public std::invalid_argument {
public:
    ParseError(std::size_t line, std::size_t column, const std::string& message)
        : std::invalid_argument("line " + std::to_string(line) + ", column " + std::to_string(column) + ": " +
                                message),
          line(line),
          column(column) {}
    std::size_t line, column;  // from 1
};

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool ends_token(char c) { return is_blank(c) || c == '#'; }

/// Whether one of eight bytes is below '$', as are blank, tab and '#' but no part of a number.
inline bool any_ends_token(std::uint64_t bytes) {
    constexpr std::uint64_t ones = 0x0101010101010101;
    return ((bytes - ones * '$') & ~bytes & (ones << 7)) != 0;
}

/// In blocks whose count fits a byte, so that the compiler compares and adds whole registers of bytes.
inline std::size_t count(std::string_view text, char c) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < text.size(); i += 224) {
        std::uint8_t part = 0;
        const std::size_t end = std::min(i + 224, text.size());
        for (std::size_t k = i; k < end; ++k) part += text[k] == c;
        total += part;
    }
    return total;
}

/// The text in quotes for a message: printable ASCII, and not longer than a reader wants.
inline std::string quoted(std::string_view text) {
    constexpr std::size_t most = 24;
    constexpr const char* digits = "0123456789abcdef";
    std::string result = "'";
    for (const char c : text.substr(0, most)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f)
            result += c;
        else
            result.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
    return result + (text.size() > most ? "...'" : "'");
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

/// Reads digits[.digits] up to a token's end where that is easy; otherwise returns `start` and leaves the
/// work to from_chars. Exact: a whole number and a power of ten that T holds without error are divided, which
/// rounds once.
template <class T>
[[gnu::always_inline]] inline const char* read_short(const char* start, const char* stop, T& result) {
    constexpr T powers[] = {T(1e0), T(1e1), T(1e2), T(1e3), T(1e4), T(1e5),
                            T(1e6), T(1e7), T(1e8), T(1e9), T(1e10)};
    constexpr std::int64_t largest = std::int64_t{1} << std::numeric_limits<T>::digits;
    if (stop - start > 12) {  // a long number would be read twice: look for its end first
        std::uint64_t bytes[2];
        std::memcpy(bytes, start, 8);
        std::memcpy(bytes + 1, start + 4, 8);
        if (!any_ends_token(bytes[0]) && !any_ends_token(bytes[1])) return start;
    }
    const char* p = start;
    const char* const near = start + std::min<std::ptrdiff_t>(stop - start, 12);
    std::int64_t digits = 0;
    for (; p != near && is_digit(*p); ++p) digits = 10 * digits + (*p - '0');
    std::ptrdiff_t decimals = 0;
    if (p != near && p != start && *p == '.') {
        const char* const point = p++;
        for (; p != near && is_digit(*p); ++p) digits = 10 * digits + (*p - '0');
        decimals = p - point - 1;
    }
    if (p == start || digits > largest || !(p == stop || (p != near && ends_token(*p)))) return start;
    result = static_cast<T>(digits);
    if (decimals) result /= powers[decimals];
    return p;
}

template <class T>
class Parser {
public:
    Parser(std::string_view text, const ReadOptions& options)
        : text_(text),
          poll_(options.poll),
          first_(options.zero_based ? 0 : 1),
          n_features_(options.n_features),
          limit_(n_features_ < 0 ? largest_index : std::min(largest_index, n_features_ - 1 + first_)) {}

    Table<T> run() {
        if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
        reserve();
        const char *next = text_.data(), *const end = next + text_.size(), *next_poll = next;
        while (next != end) {
            if (next >= next_poll) {
                if (poll_) poll_();
                next_poll = next + std::min<std::ptrdiff_t>(end - next, 1 << 24);
            }
            ++line_;
            begin_ = p_ = next;
            const auto* newline = static_cast<const char*>(std::memchr(next, '\n', end - next));
            stop_ = newline ? newline : end;
            next = newline ? newline + 1 : end;
            if (stop_ != begin_ && stop_[-1] == '\r') --stop_;
            row();
        }
        table_.n_features = n_features_ < 0 ? largest_seen_ - first_ + 1 : n_features_;
        return std::move(table_);
    }

private:
    // Counting is far quicker than parsing, and saves copying the arrays as they grow. An entry takes four
    // bytes, so that colons alone do not claim memory.
    void reserve() {
        const std::size_t rows = std::min(count(text_, '\n'), text_.size() / 2) + 1;
        const std::size_t entries = std::min(count(text_, ':'), text_.size() / 4 + 1);
        table_.labels.reserve(rows);
        table_.starts.reserve(rows + 1);
        table_.columns.reserve(entries);
        table_.values.reserve(entries);
    }

    void row() {
        if (at_end()) return;
        const double label = number<double>("label", "remove or correct the line");
        if (!at_end() && std::string_view(p_, stop_).starts_with("qid:")) skip_qid();
        std::int64_t previous = first_ - 1;
        while (!at_end()) {
            const char* const start = p_;
            const std::int64_t index = this->index();
            if (index <= previous || index > limit_) fail_index(start, index, previous);
            previous = index;
            const T value = number<T>("value", "remove the entry or impute it");
            table_.columns.push_back(static_cast<std::int32_t>(index - first_));
            table_.values.push_back(value);
        }
        largest_seen_ = std::max(largest_seen_, previous);
        table_.labels.push_back(label);
        table_.starts.push_back(static_cast<std::int64_t>(table_.values.size()));
    }

    /// Skips blanks; true where the line ends or its comment begins.
    bool at_end() {
        while (p_ != stop_ && is_blank(*p_)) ++p_;
        if (p_ == stop_) return true;
        if (*p_ != '#') return false;
        if (const void* nul = std::memchr(p_, '\0', stop_ - p_)) fail_byte(static_cast<const char*>(nul));
        return true;
    }

    /// Reads "index:". Stops adding digits past `enough`, so that no number of them overflows.
    std::int64_t index() {
        constexpr std::int64_t enough = 10'000'000'000;
        const char* const start = p_;
        std::int64_t result = 0;
        for (; p_ != stop_ && is_digit(*p_); ++p_)
            if (result < enough) result = 10 * result + (*p_ - '0');
        if (p_ == start || p_ == stop_ || *p_ != ':') fail_entry(start);
        ++p_;
        return result;
    }

    template <class Number>
    Number number(const char* what, const char* if_not_finite) {
        const char* const start = p_;
        Number result = 0;
        p_ = read_short(start, stop_, result);
        if (p_ != start) return result;
        const char* const digits =  // from_chars knows no "+"
            stop_ - start > 1 && start[0] == '+' && start[1] != '-' ? start + 1 : start;
        const auto parsed = std::from_chars(digits, stop_, result);
        if (parsed.ec == std::errc::invalid_argument || (parsed.ptr != stop_ && !ends_token(*parsed.ptr)))
            fail_number(start, what);
        if (parsed.ec == std::errc::result_out_of_range) {
            if (is_too_large({digits, parsed.ptr})) fail_large<Number>(start, what);
            result = *digits == '-' ? Number(-0.0) : Number(0);
        }
        if (!std::isfinite(result))
            fail(start, std::string(what) + " " + quoted(token(start)) + " is not finite; " + if_not_finite);
        p_ = parsed.ptr;
        return result;
    }

    void skip_qid() {
        const char* const start = p_ + 4;
        std::int64_t qid;
        const auto parsed = std::from_chars(start, stop_, qid);
        if (parsed.ec != std::errc{} || (parsed.ptr != stop_ && !ends_token(*parsed.ptr))) {
            check_bytes(start);
            fail(start, "qid " + quoted(token(start)) + " is not an integer; correct it or remove it");
        }
        p_ = parsed.ptr;
    }

    // ---- What went wrong. Kept out of line, so that the loop above stays small. ----

    std::string_view token(const char* start) const {
        return {start, std::find_if(start, stop_, ends_token)};
    }

    [[noreturn, gnu::cold, gnu::noinline]] void fail(const char* at, const std::string& message) const {
        throw ParseError(line_, static_cast<std::size_t>(at - begin_) + 1, message);
    }

    [[noreturn, gnu::cold, gnu::noinline]] void fail_byte(const char* at) const {
        if (*at == '\r') fail(at, "carriage return inside a line; end lines with LF or CRLF");
        constexpr const char* digits = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(*at);
        fail(at, std::string("byte 0x") + digits[byte >> 4] + digits[byte & 15] +
                     " is not text; is the file compressed or binary?");
    }

    /// A control character says more about the file than the token it stands in.
    void check_bytes(const char* start) const {
        for (const char& c : token(start))
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) fail_byte(&c);
    }

    [[noreturn, gnu::cold, gnu::noinline]] void fail_number(const char* start, const char* what) const {
        check_bytes(start);
        if (token(start).empty()) fail(start, std::string(what) + " missing; write it right after the colon");
        fail(start, std::string(what) + " " + quoted(token(start)) + " is not a number; correct it");
    }

    template <class Number>
    [[noreturn, gnu::cold, gnu::noinline]] void fail_large(const char* start, const char* what) const {
        constexpr bool is_float = std::is_same_v<Number, float>;
        fail(start, std::string(what) + " " + quoted(token(start)) + " is too large for " +
                        (is_float ? "float32; pass dtype=np.float64 or rescale it" : "float64; rescale it"));
    }

    /// The token is not "digits:...".
    [[noreturn, gnu::cold, gnu::noinline]] void fail_entry(const char* start) const {
        check_bytes(start);
        const std::string_view text = token(start);
        const std::size_t colon = text.find(':');
        if (colon == text.npos) fail(start, "no colon in " + quoted(text) + "; write index:value");
        const std::string_view index = text.substr(0, colon);
        const bool negative = index.size() > 1 && index[0] == '-' &&
                              std::all_of(index.begin() + 1, index.end(), [](char c) { return is_digit(c); });
        if (negative)
            fail(start,
                 "index " + quoted(index) + " is negative; indices start at " + std::to_string(first_));
        fail(start, "index " + quoted(index) + " is not an integer; write index:value");
    }

    [[noreturn, gnu::cold, gnu::noinline]] void fail_index(const char* start, std::int64_t index,
                                                           std::int64_t previous) const {
        const std::string_view text = token(start);
        if (index > largest_index)
            fail(start, "index " + quoted(text.substr(0, text.find(':'))) + " is too large; the largest is " +
                            std::to_string(largest_index));
        const std::string name = "index " + std::to_string(index);
        if (index < first_) fail(start, name + " in a one-based file; pass zero_based=True");
        if (index <= previous)
            fail(start, name + " after " + std::to_string(previous) + ": indices must increase; " +
                            (index < previous ? "sort the entries of the line" : "merge the two entries"));
        fail(start, name + " is beyond n_features=" + std::to_string(n_features_) +
                        "; pass a larger n_features or none");
    }

    std::string_view text_;
    std::function<void()> poll_;
    std::int64_t first_, n_features_, limit_;  // the smallest index, the features given, the largest index
    std::int64_t largest_seen_ = first_ - 1;   // the largest index so far
    std::size_t line_ = 0;                     // of the line being read, from 1
    const char *begin_ = {}, *stop_ = {}, *p_ = {};  // its first byte, its end, the next byte to read
    Table<T> table_;
};

/// Throws ParseError.
template <class T>
Table<T> parse(std::string_view text, const ReadOptions& options) {
    return Parser<T>(text, options).run();
}

/// Writes the shortest text that reads back as `value`, whole numbers without an exponent: 100000, not 1e+05.
template <class T>
char* write_number(char* out, char* end, T value) {
    const bool negative_zero = value == 0 && std::signbit(value);
    if (std::abs(value) < T(1e15) && value == std::trunc(value) && !negative_zero)
        return std::to_chars(out, end, static_cast<std::int64_t>(value)).ptr;
    return std::to_chars(out, end, value).ptr;
}

/// One line per row, numbers finite. Stored zeros are written: the arrays come back as they were.
template <class T, class Index>
std::string format(std::span<const double> labels, std::span<const T> values, std::span<const Index> columns,
                   std::span<const Index> starts, bool zero_based) {
    if (starts.size() != labels.size() + 1 || values.size() != columns.size())
        throw std::invalid_argument("lengths differ");
    const std::int64_t first = zero_based ? 0 : 1;
    std::string text;
    char buffer[80];  // a blank, an index, a colon and a number take half of it
    char* const end = buffer + sizeof buffer;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (starts[i] < 0 || starts[i + 1] < starts[i] ||
            static_cast<std::size_t>(starts[i + 1]) > values.size())
            throw std::invalid_argument("row starts out of order");
        text.append(buffer, write_number(buffer, end, labels[i]));
        std::int64_t previous = -1;
        for (auto k = static_cast<std::size_t>(starts[i]); k < static_cast<std::size_t>(starts[i + 1]); ++k) {
            const std::int64_t column = columns[k];
            if (column <= previous) throw std::invalid_argument("columns must increase along a row");
            if (column > largest_index - first)
                throw std::invalid_argument("column " + std::to_string(column) + " would get index " +
                                            std::to_string(column + first) + ", and the largest is " +
                                            std::to_string(largest_index) + "; use fewer columns");
            previous = column;
            buffer[0] = ' ';
            char* out = std::to_chars(buffer + 1, end, column + first).ptr;
            *out++ = ':';
            text.append(buffer, write_number(out, end, values[k]));
        }
        text += '\n';
    }
    return text;
}

// Compiled in instances/svmlight.cpp.
extern template Table<float> parse<float>(std::string_view, const ReadOptions&);
extern template Table<double> parse<double>(std::string_view, const ReadOptions&);

}  // namespace pegasos::svmlight
