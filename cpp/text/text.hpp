// clang-format off
// Text features in the line format of Vowpal Wabbit, hashed to CSR arrays.
//
//   text     = { line "\n" }                                    the last "\n" may be missing
//   line     = [ label [ weight ] ] [ tag ] { "|" [ name [ ":" value ] ] { feature } } [ "\r" ]
//   feature  = word [ ":" value ]
//
// Blanks and tabs stand between label, weight, tag and features. A tag begins with "'", or stands right before the "|".
// A name stands right after the "|": it is part of the hash of the features up to the next "|", and its value multiplies
// theirs. A word is any bytes but blank, tab, newline, "|" and ":"; the values are finite decimal numbers. A line of
// blanks is no row; one without a label is a row to predict.
//
// A feature is column hash(name, word) of 2^bits. One that stands k times in a row without a value counts 1 + log k, as
// words in long texts do; the values of one that has them are added up. Then, unless told otherwise, the row is divided
// by its Euclidean norm.
// clang-format on
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/byte_marks.hpp"
#include "text/svmlight_block.hpp"
#include "text/svmlight_numbers.hpp"

namespace pegasos::text {

struct Options {
    int bits = 18;
    bool normalize = true;
    std::function<void()> poll;  // called now and then; may throw to end the work
};

struct Table {
    std::vector<double> labels;  // NaN where there is none
    std::vector<double> weights;
    std::vector<std::int32_t> starts{0}, columns;
    std::vector<float> values;
    std::size_t lines = 0;
};

/// 64 bits of a word under a seed: words of eight bytes, multiplied and folded. The same on every machine of
/// the same byte order, as models rest on it.
class WordHash {
public:
    explicit WordHash(const char* end) : end_(end) {}

    std::uint64_t operator()(std::uint64_t seed, const char* p, const char* last) const {
        auto left = static_cast<std::size_t>(last - p);
        std::uint64_t hash = seed + left * 0x9e3779b97f4a7c15u;
        for (; left > 8; left -= 8, p += 8) hash = fold(hash ^ load(p, 8));
        hash = fold(hash ^ load(p, left));
        return hash ^ hash >> 32;
    }

private:
    static std::uint64_t fold(std::uint64_t x) {
        const unsigned __int128 product = static_cast<unsigned __int128>(x) * 0xd6e8feb86659fd93u;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }

    /// `count` bytes, from 0 to 8. Reads eight where the text has them: a copy of unknown length is slow.
    std::uint64_t load(const char* p, std::size_t count) const {
        std::uint64_t word = 0;
        if (end_ - p >= 8) {
            std::memcpy(&word, p, 8);
            return count == 0 ? 0 : word & (~std::uint64_t{0} >> (64 - 8 * count));
        }
        std::memcpy(&word, p, count);
        return word;
    }

    const char* end_;
};

class Parser {
public:
    Parser(std::string_view text, const Options& options)
        : options_(options),
          text_(text),
          end_(text.data() + text.size()),
          marks_(text.data(), end_),
          hash_(end_),
          mask_((std::uint64_t{1} << options.bits) - 1),
          tokens_(1024),
          row_(tokens_.size()),
          slots_(4 * tokens_.size()) {
        if (text.size() > std::numeric_limits<std::int32_t>::max())
            throw std::invalid_argument("more than 2 GiB of text at a time");
        for (std::size_t k = 1; k < counted_.size(); ++k)
            counted_[k] = static_cast<float>(1 + std::log(static_cast<double>(k)));
        table_.columns.reserve(text.size() / 6);
        table_.values.reserve(text.size() / 6);
    }

    Table run() {
        for (const char* p = text_.data(); p != end_;) {
            line_ = p;
            p = parse_line(p);
            ++table_.lines;
            if (options_.poll && table_.lines % 4096 == 0) options_.poll();
        }
        return std::move(table_);
    }

private:
    struct Token {
        std::int32_t column;
        std::uint32_t counts;  // 0 or 1
        float value;
    };
    struct Feature {
        std::int32_t column;
        std::uint32_t count;
        float value;
    };
    struct Slot {
        std::uint32_t stamp;  // of the row
        std::int32_t column;
        std::uint32_t place;  // in the row
    };
    static constexpr std::uint64_t default_name = 0x2545f4914f6cdd1d;

    /// Up to the newline; the beginning of the next line.
    const char* parse_line(const char* p) {
        const char* mark = next();
        while (*mark == ' ' || *mark == '\t' || *mark == ':') mark = next();
        if (*mark == '\n') {
            if (!is_blank(p, mark))
                fail(p,
                     "no '|' after the label in " + svmlight::quoted({p, mark}) + "; write label | features");
            return mark + 1;
        }
        parse_head(p, mark);
        while (*mark == '|') mark = parse_namespace(mark + 1);
        finish_row();
        return mark + 1;
    }

    /// Label, weight and tag, up to the first "|".
    void parse_head(const char* p, const char* bar) {
        double numbers[2] = {std::numeric_limits<double>::quiet_NaN(), 1};
        int count = 0;
        while (true) {
            while (p != bar && svmlight::is_blank(*p)) ++p;
            if (p == bar) break;
            const char* last = p;
            while (last != bar && !svmlight::is_blank(*last)) ++last;
            if (*p == '\'' || (last == bar && count > 0)) {  // a tag
                p = last;
                continue;
            }
            if (count == 2)
                fail(p, "a third number, " + svmlight::quoted({p, last}) + "; write label weight | features");
            numbers[count++] = number(p, last);
            if (count == 2 && numbers[1] < 0) fail(p, "a negative weight; weights are 0 or more");
            p = last;
        }
        table_.labels.push_back(numbers[0]);
        table_.weights.push_back(numbers[1]);
    }

    /// From behind the "|" to the next one or the newline.
    const char* parse_namespace(const char* p) {
        std::uint64_t seed = default_name;
        double scale = 1;
        const char* mark = next();
        if (mark != p && !(*mark == '\n' && mark - p == 1 && *p == '\r')) {
            seed = hash_(default_name, p, mark);
            if (*mark == ':') {
                p = mark + 1;
                mark = next();
                scale = number(p, mark);
            }
        } else if (*mark == ':') {
            fail(mark, "a ':' without a name before it; write |name:value");
        }
        while (*mark == ' ' || *mark == '\t') {
            p = mark + 1;
            mark = next();
            if (scale == 1) add_words(p, mark, seed);
            if (mark == p && *mark != ':') continue;
            if (*mark == '\n' && mark[-1] == '\r' && mark - p == 1) continue;
            const char* last = *mark == '\n' && mark[-1] == '\r' ? mark - 1 : mark;
            const std::uint64_t column = hash_(seed, p, last) & mask_;
            if (*mark != ':') [[likely]] {
                add(column, scale == 1, scale == 1 ? 0 : static_cast<float>(scale));
                continue;
            }
            if (mark == p) fail(mark, "a ':' without a feature before it; write feature:value");
            p = mark + 1;
            mark = next();
            add(column, false, static_cast<float>(scale * number(p, mark)));
        }
        if (*mark == ':') fail(mark, "a second ':'; write feature:value");
        return mark;
    }

    /// Words without values, of which most text is, from the one between `p` and `mark`, to the first that is
    /// something else.
    void add_words(const char*& p, const char*& mark, std::uint64_t seed) {
        auto marks = marks_;  // in registers
        const char *first = p, *last = mark;
        while (svmlight::is_blank(*last) && first != last) {
            if (n_tokens_ == tokens_.size()) [[unlikely]]
                grow();
            tokens_[n_tokens_++] = {static_cast<std::int32_t>(hash_(seed, first, last) & mask_), 1, 0};
            first = last + 1;
            last = marks.next();
        }
        marks_ = marks;
        p = first;
        mark = last;
    }

    /// One more feature of the row, to be counted or with a value.
    void add(std::uint64_t column, bool counts, float value) {
        if (n_tokens_ == tokens_.size()) [[unlikely]]
            grow();
        tokens_[n_tokens_++] = {static_cast<std::int32_t>(column), counts, value};
    }

    [[gnu::noinline]] void grow() {
        tokens_.resize(2 * tokens_.size());
        row_.resize(tokens_.size());
        slots_.resize(4 * tokens_.size());
    }

    /// Joins features that are the same. As many slots are used as the row needs, so that they stay close;
    /// those of rows before are told by their stamp.
    std::uint32_t join_tokens() {
        if (n_tokens_ == 0) return 0;
        const std::size_t mask = std::bit_ceil(4 * n_tokens_) - 1;
        const std::uint32_t stamp = ++stamp_;
        Slot* const slots = slots_.data();
        Feature* const row = row_.data();
        std::uint32_t size = 0;
        for (const Token *token = tokens_.data(), *end = token + n_tokens_; token != end; ++token) {
            const auto [column, counts, value] = *token;
            std::size_t at = static_cast<std::uint32_t>(column) & mask;
            while ((slots[at].stamp == stamp) & (slots[at].column != column)) at = (at + 1) & mask;
            // Whether the row has it already is for no processor to foresee, so there is no branch on it.
            const bool met = slots[at].stamp == stamp;
            const std::uint32_t place = size ^ ((size ^ slots[at].place) & -std::uint32_t{met});
            slots[at] = {stamp, column, place};
            row[place].column = column;
            row[place].count += counts;
            row[place].value += value;
            size += !met;
        }
        n_tokens_ = 0;
        return size;
    }

    void finish_row() {
        const std::size_t size = join_tokens(), start = table_.columns.size();
        table_.columns.resize(start + size);
        table_.values.resize(start + size);
        std::int32_t* columns = table_.columns.data() + start;
        float* values = table_.values.data() + start;
        float square = 0;
        for (std::size_t k = 0; k < size; ++k) {
            const auto [column, count, value] = std::exchange(row_[k], Feature{});
            columns[k] = column;
            values[k] =
                value + (count < counted_.size() ? counted_[count] : 1 + std::log(static_cast<float>(count)));
            square += values[k] * values[k];
        }
        if (!std::isfinite(square)) fail(line_, "values too large; scale them");
        if (options_.normalize && square > 0) {
            const float factor = 1 / std::sqrt(square);
            for (std::size_t k = 0; k < size; ++k) values[k] *= factor;
        }
        table_.starts.push_back(static_cast<std::int32_t>(table_.columns.size()));
    }

    static bool is_blank(const char* p, const char* last) {
        while (p != last && (svmlight::is_blank(*p) || *p == '\r')) ++p;
        return p == last;
    }

    double number(const char* p, const char* last) {
        if (last != p && last[-1] == '\r' && *last == '\n') --last;
        const char* first = p != last && *p == '+' ? p + 1 : p;
        double value = 0;
        const auto [stop, error] = std::from_chars(first, last, value);
        if (error != std::errc{} || stop != last || !std::isfinite(value))
            fail(p, svmlight::quoted({p, last}) + " is no finite number");
        return value;
    }

    const char* next() { return marks_.next(); }

    [[noreturn]] void fail(const char* at, const std::string& message) {
        throw svmlight::ParseError({table_.lines + 1, static_cast<std::size_t>(at - line_) + 1}, message);
    }

    const Options& options_;
    std::string_view text_;
    const char *end_, *line_ = nullptr;
    Marks<' ', '\t', '\n', '|', ':'> marks_;
    WordHash hash_;
    std::uint64_t mask_;
    std::vector<Token> tokens_;  // of this row
    std::size_t n_tokens_ = 0;
    std::vector<Feature> row_;  // as large; zero between rows
    std::vector<Slot> slots_;   // four times as large
    std::uint32_t stamp_ = 0;
    std::array<float, 256> counted_{};  // 1 + log k; 0 of 0
    Table table_;
};

/// Text that ends with a newline.
Table parse(std::string_view text, const Options& options);

}  // namespace pegasos::text
