// Text in the svmlight / LIBSVM format: the grammar, and a parser of whole lines.
//
//   file    = [UTF-8 byte order mark] line { "\n" line }
//   line    = [ label [ "qid:" integer ] { index ":" value } ] [ "#" anything ] [ "\r" ]
//   label   = value; of a file with several labels a row: [ value { "," value } ]
//   index   = decimal digits, from 1 (from 0 in a zero-based file) to 10^18 - 1, increasing along the line
//   value   = [ "+" | "-" ] decimal number, with or without fraction and exponent; finite
//
// Spaces and tabs stand between label, qid and entries, and may stand at both ends of a line; none may stand
// around a colon or a comma. "#" ends an entry like a space does. A line without text is no row. The qid is
// checked, and dropped where it is not asked for. A value too small for its type is 0; one too large is an
// error, as are "inf" and "nan", and as is a NUL byte wherever it stands, comments included. Columns of error
// messages count bytes from 1.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "text/svmlight_block.hpp"
#include "text/svmlight_numbers.hpp"

namespace pegasos::svmlight {

/// Parses whole lines into a block. Bytes up to `limit`, past the text, may be read.
template <class T, class Column>
class Parser {
public:
    Parser(const ReadOptions& options, std::string_view text, const char* limit, Block<T>& block)
        : options_(options),
          text_(text),
          limit_(limit),
          least_(options.base == Base::one ? 1 : 0),
          offset_(options.base == Base::zero ? 0 : 1),
          most_(largest_allowed(options)),
          block_(block) {
        // An entry takes four bytes with what ends it, so that colons alone do not claim memory.
        const std::size_t entries = text.size() / 4 + 1;
        if constexpr (std::is_same_v<Column, std::int32_t>)
            columns_ = block.columns.at_least(entries);
        else
            columns_ = block.wide_columns.at_least(entries);
        values_ = block.values.at_least(entries);
    }

    /// Throws ColumnTooWide. Other errors are the block's.
    void run() {
        block_.clear();
        block_.is_wide = std::is_same_v<Column, std::int64_t>;
        const char *next = text_.data(), *const end = next + text_.size();
        try {
            while (next != end) {
                ++block_.lines;
                begin_ = next;
                const auto* newline = static_cast<const char*>(std::memchr(next, '\n', end - next));
                stop_ = newline ? newline : end;
                next = newline ? newline + 1 : end;
                if (stop_ != begin_ && stop_[-1] == '\r') --stop_;
                row();
            }
        } catch (const ParseError& error) {
            block_.error = error;
        }
    }

private:
    static std::int64_t largest_allowed(const ReadOptions& options) {
        std::int64_t most = largest_index;
        if (options.n_features >= 0)
            most = std::min(most, options.n_features - (options.base == Base::zero ? 1 : 0));
        if constexpr (std::is_same_v<Column, std::int32_t>)  // one more than the column still fits
            most = std::min(most, largest_narrow - (options.base == Base::one ? 0 : 1));
        return most;
    }

    void row() {
        const char* p = begin_;
        if (at_end(p)) return;
        if (options_.multilabel)
            read_labels(p);
        else
            block_.labels.push_back(number<double>(p, stop_, "label", "remove or correct the line"));
        if (!at_end(p) && starts_with_qid(p))
            read_qid(p);
        else if (options_.query_id)
            fail(p, "no qid after the label; write qid:N in every row, or pass query_id=False");
        std::int64_t previous = least_ - 1;
        const std::int64_t offset = offset_, most = most_;
        Column* const columns = columns_;
        T* const values = values_;
        const std::size_t first = block_.size;
        std::size_t size = first;
        const char *entry = p, *const first_entry = p;
        while (!at_end(p)) {
            entry = p;
            std::int64_t index;
            T value;
            p = read_entry(entry, stop_, limit_, index, value);
            const bool whole = p != entry;
            if (!whole) [[unlikely]]
                index = read_index(p);
            if (index <= previous || index > most) [[unlikely]]
                fail_index(entry, index, previous);
            if (!whole) [[unlikely]]
                value = number<T>(p, stop_, "value", "remove the entry or impute it");
            previous = index;
            columns[size] = static_cast<Column>(index - offset);
            values[size] = value;
            ++size;
        }
        if (options_.base == Base::detect && size != first) {
            if (columns_[first] < 0 && !block_.zero) block_.zero = place(first_entry);
            if (previous == options_.n_features && !block_.top) block_.top = place(entry);
        }
        block_.size = size;
        block_.largest = std::max(block_.largest, previous);
        block_.ends.push_back(static_cast<std::int64_t>(size));
    }

    /// Skips blanks; true where the line ends or its comment begins.
    [[gnu::always_inline]] bool at_end(const char*& p) const {
        while (p != stop_ && is_blank(*p)) ++p;
        if (p == stop_) return true;
        if (*p != '#') return false;
        if (const void* nul = std::memchr(p, '\0', stop_ - p)) fail_byte(static_cast<const char*>(nul));
        return true;
    }

    /// Reads "index:". Stops adding digits when there are too many, so that no number of them overflows.
    [[gnu::always_inline]] std::int64_t read_index(const char*& p) const {
        if (limit_ - p >= lookahead) [[likely]] {
            const Digits digits = leading_digits(load_bytes(p));
            if (digits.count != 0 && p[digits.count] == ':') [[likely]] {
                p += digits.count + 1;
                return static_cast<std::int64_t>(digits.value);
            }
        }
        return read_long_index(p);
    }

    [[gnu::noinline]] std::int64_t read_long_index(const char*& p) const {
        const char* const start = p;
        std::uint64_t result = 0;
        for (; p != stop_ && is_digit(*p); ++p)
            if (result <= largest_index) result = 10 * result + static_cast<std::uint64_t>(*p - '0');
        if (p == start || p == stop_ || *p != ':') fail_entry(start);
        ++p;
        return static_cast<std::int64_t>(std::min<std::uint64_t>(result, largest_index + 1));
    }

    template <class Number>
    [[gnu::always_inline]] Number number(const char*& p, const char* stop, const char* what,
                                         const char* if_not_finite) const {
        Number result = 0;
        const char* const start = p;
        p = read_short(start, stop, limit_, result);
        if (p != start) [[likely]]
            return result;
        return any_number<Number>(p, stop, what, if_not_finite);
    }

    template <class Number>
    [[gnu::noinline]] Number any_number(const char*& p, const char* stop, const char* what,
                                        const char* if_not_finite) const {
        const char* const start = p;
        Number result = 0;
        const char* const digits =  // from_chars knows no "+"
            stop - start > 1 && start[0] == '+' && start[1] != '-' ? start + 1 : start;
        const auto parsed = svmlight::from_chars(digits, stop, result);
        if (parsed.ec == std::errc::invalid_argument || (parsed.ptr != stop && !ends_token(*parsed.ptr)))
            fail_number(start, what);
        if (parsed.ec == std::errc::result_out_of_range) {
            if (is_too_large({digits, parsed.ptr})) fail_large<Number>(start, what);
            result = *digits == '-' ? Number(-0.0) : Number(0);
        }
        if (!std::isfinite(result))
            fail(start, std::string(what) + " " + quoted(token(start)) + " is not finite; " + if_not_finite);
        p = parsed.ptr;
        return result;
    }

    /// Labels with commas between them, in increasing order; none where the line begins with an entry.
    void read_labels(const char*& p) {
        const std::string_view text = token(p);
        const std::size_t before = block_.labels.size();
        if (text.find(':') == text.npos) {
            const char* const end = text.data() + text.size();
            for (;;) {
                const char* const stop = std::find(p, end, ',');
                if (p == stop) fail(p, "label missing beside a comma; remove the comma, or write one");
                block_.labels.push_back(number<double>(p, stop, "label", "remove or correct it"));
                if (stop == end) break;
                ++p;
            }
            std::sort(block_.labels.begin() + static_cast<std::ptrdiff_t>(before), block_.labels.end());
        }
        block_.label_ends.push_back(static_cast<std::int64_t>(block_.labels.size()));
    }

    bool starts_with_qid(const char* p) const {
        return stop_ - p >= 4 && *p == 'q' && std::memcmp(p, "qid:", 4) == 0;
    }

    void read_qid(const char*& p) {
        const char* const start = p + 4;
        std::int64_t qid;
        const auto parsed = std::from_chars(start, stop_, qid);
        if (parsed.ec != std::errc{} || (parsed.ptr != stop_ && !ends_token(*parsed.ptr))) {
            check_bytes(start);
            fail(start, "qid " + quoted(token(start)) + " is not an integer; correct it or remove it");
        }
        if (options_.query_id) block_.qids.push_back(qid);
        p = parsed.ptr;
    }

    // ---- What went wrong. Kept out of line, so that the loop above stays small. ----

    std::string_view token(const char* start) const {
        return {start, std::find_if(start, stop_, ends_token)};
    }

    Place place(const char* at) const { return {block_.lines, static_cast<std::size_t>(at - begin_) + 1}; }

    [[noreturn, gnu::cold, gnu::noinline]] void fail(const char* at, const std::string& message) const {
        throw ParseError(place(at), message);
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
        const std::string_view text = token(start);
        if (text.empty()) fail(start, std::string(what) + " missing; write it right after the colon");
        const bool several = *what == 'l' && !options_.multilabel && text.find(',') != text.npos &&
                             text.find(':') == text.npos;
        fail(start, std::string(what) + " " + quoted(text) + " is not a number; " +
                        (several ? "pass multilabel=True if rows have several labels" : "correct it"));
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
                 "index " + quoted(index) + " is negative; indices start at " + std::to_string(least_));
        fail(start, "index " + quoted(index) + " is not an integer; write index:value");
    }

    [[noreturn, gnu::cold, gnu::noinline]] void fail_index(const char* start, std::int64_t index,
                                                           std::int64_t previous) const {
        const std::string_view text = token(start);
        if (index > largest_index)
            fail(start, "index " + quoted(text.substr(0, text.find(':'))) + " is too large; the largest is " +
                            std::to_string(largest_index));
        const std::string name = "index " + std::to_string(index);
        if (index < least_) fail(start, name + " in a one-based file; pass zero_based=True");
        if (index <= previous)
            fail(start, name + " after " + std::to_string(previous) + ": indices must increase; " +
                            (index < previous ? "sort the entries of the line" : "merge the two entries"));
        const std::int64_t features = options_.n_features;
        if (features >= 0 && index > features - (options_.base == Base::zero ? 1 : 0))
            fail(start, name + " is beyond n_features=" + std::to_string(features) +
                            "; pass a larger n_features or none");
        throw ColumnTooWide{};
    }

    const ReadOptions& options_;
    std::string_view text_;
    const char* limit_;
    std::int64_t least_, offset_, most_;  // the smallest index, the index of column 0, the largest index
    Block<T>& block_;
    Column* columns_;
    T* values_;
    const char *begin_ = {}, *stop_ = {};  // of the line being read: its first byte, its end
};

/// Parses whole lines, with columns of 64 bits where 32 are too few.
template <class T>
void parse_block(const ReadOptions& options, std::string_view text, const char* limit, Block<T>& block);

// Compiled in svmlight_parser.cpp.
extern template void parse_block<float>(const ReadOptions&, std::string_view, const char*, Block<float>&);
extern template void parse_block<double>(const ReadOptions&, std::string_view, const char*, Block<double>&);

}  // namespace pegasos::svmlight
