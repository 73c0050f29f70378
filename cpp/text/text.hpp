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
// A feature is a column of 2^bits: the low bits of the XXH3 of its word, with the XXH3 of its name as the seed, or 0
// where there is no name. One that stands k times in a row without a value counts 1 + log k, as words in long texts do;
// the values of one that has them are added up. Then, unless told otherwise, the row is divided by its Euclidean norm.
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
#include "text/hash.hpp"
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

class Parser {
public:
    Parser(std::string_view text, const Options& options)
        : options_(options),
          text_(text),
          end_(text.data() + text.size()),
          marks_(text.data(), end_),
          mask_((std::uint64_t{1} << options.bits) - 1),
          words_(1024) {
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
    static constexpr std::size_t most_waiting = 64;

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
        Xxh3 hash(0);
        double scale = 1;
        const char* mark = next();
        if (mark != p && !(*mark == '\n' && mark - p == 1 && *p == '\r')) {
            hash = Xxh3(hash({p, mark}));
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
            if (scale == 1) add_words(p, mark, hash);
            if (mark == p && *mark != ':') continue;
            if (*mark == '\n' && mark[-1] == '\r' && mark - p == 1) continue;
            const char* last = *mark == '\n' && mark[-1] == '\r' ? mark - 1 : mark;
            const auto column = static_cast<std::int32_t>(hash({p, last}) & mask_);
            if (*mark != ':') {
                if (scale == 1)
                    add_word(column);
                else
                    tokens_.push_back({column, static_cast<float>(scale)});
                continue;
            }
            if (mark == p) fail(mark, "a ':' without a feature before it; write feature:value");
            p = mark + 1;
            mark = next();
            tokens_.push_back({column, static_cast<float>(scale * number(p, mark))});
        }
        if (*mark == ':') fail(mark, "a second ':'; write feature:value");
        return mark;
    }

    /// Words without values, of which most text is, from the one between `p` and `mark`, to the first that is
    /// something else. Short ones wait, so that many are hashed at a time.
    void add_words(const char*& p, const char*& mark, const Xxh3& hash) {
        auto marks = marks_;  // in registers
        const char *first = p, *last = mark;
        std::size_t waiting = 0;
        while (svmlight::is_blank(*last) && first != last) {
            const auto size = static_cast<std::size_t>(last - first);
            std::uint64_t bytes = 0;
            if (size > 8)
                bytes = hash({first, last});
            else if (end_ - first >= 8) [[likely]]
                bytes = Xxh3::read<std::uint64_t>(first);
            else
                for (std::size_t k = size; k-- > 0;)
                    bytes = bytes << 8 | static_cast<unsigned char>(first[k]);
            bytes_[waiting] = bytes;
            sizes_[waiting] = size;
            if (++waiting == most_waiting) hash_words(std::exchange(waiting, 0), hash);
            first = last + 1;
            last = marks.next();
        }
        hash_words(waiting, hash);
        marks_ = marks;
        p = first;
        mark = last;
    }

    /// The columns of words that wait, by eights: what is behind the last is overwritten by the next.
    void hash_words(std::size_t waiting, const Xxh3& hash) {
        if (n_words_ + most_waiting > words_.size()) [[unlikely]]
            words_.resize(2 * words_.size());
        std::int32_t* const columns = words_.data() + n_words_;
        for (std::size_t k = 0; k < (waiting + 7) / 8 * 8; ++k) {
            const std::uint64_t hashed = hash.of_1_to_8(bytes_[k], sizes_[k]);
            columns[k] = static_cast<std::int32_t>((sizes_[k] > 8 ? bytes_[k] : hashed) & mask_);
        }
        n_words_ += waiting;
    }

    void add_word(std::int32_t column) {
        if (n_words_ == words_.size()) [[unlikely]]
            words_.resize(2 * words_.size());
        words_[n_words_++] = column;
    }

    /// Joins features that are the same. As many slots are used as the row needs, so that they stay close;
    /// those of rows before are told by their stamp. Which slot a column has nobody can foresee, as with
    /// words chosen for it a row would take time by the square of its length.
    std::uint32_t join() {
        const std::size_t total = n_words_ + tokens_.size();
        if (total == 0) return 0;
        if (total > row_.size()) {
            row_.resize(std::bit_ceil(total));
            slots_.resize(4 * row_.size());
        }
        const auto mask = static_cast<std::uint32_t>(std::bit_ceil(4 * total) - 1);
        const int shift = std::countl_zero(mask);
        const std::uint32_t stamp = ++stamp_;
        Slot* const slots = slots_.data();
        Feature* const row = row_.data();
        std::uint32_t size = 0;
        const auto feature_of = [&](std::int32_t column) -> Feature& {
            std::uint32_t at = static_cast<std::uint32_t>(column) * spread_ >> shift;
            while ((slots[at].stamp == stamp) & (slots[at].column != column)) at = (at + 1) & mask;
            // Whether the row has it already is for no processor to foresee, so there is no branch on it.
            const bool met = slots[at].stamp == stamp;
            const std::uint32_t place = size ^ ((size ^ slots[at].place) & -std::uint32_t{met});
            slots[at] = {stamp, column, place};
            row[place].column = column;
            size += !met;
            return row[place];
        };
        for (const std::int32_t *word = words_.data(), *end = word + n_words_; word != end; ++word)
            ++feature_of(*word).count;
        for (const Token& token : tokens_) feature_of(token.column).value += token.value;
        n_words_ = 0;
        tokens_.clear();
        return size;
    }

    void finish_row() {
        const std::size_t size = join(), start = table_.columns.size();
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
            fail(p, p == last ? "no value after ':'; write name:value, or the name alone"
                              : svmlight::quoted({p, last}) + " is not a finite number");
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
    std::uint64_t mask_;
    std::array<std::uint64_t, most_waiting> bytes_{}, sizes_{};  // of words that wait; of long ones the hash
    std::vector<std::int32_t> words_;                            // the columns of this row that count
    std::size_t n_words_ = 0;
    std::vector<Token> tokens_;  // of this row, with values
    std::vector<Feature> row_;   // zero between rows
    std::vector<Slot> slots_;    // four times as many
    std::uint32_t stamp_ = 0;
    const std::uint32_t spread_ = static_cast<std::uint32_t>(table_seed()) | 1;
    std::array<float, 256> counted_{};  // 1 + log k; 0 of 0
    Table table_;
};

/// Text that ends with a newline.
Table parse(std::string_view text, const Options& options);

}  // namespace pegasos::text
