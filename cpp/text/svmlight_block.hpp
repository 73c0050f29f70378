// What an svmlight parser is told, and what it returns: the rows of some lines, and what is wrong with them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/growing_array.hpp"

namespace pegasos::svmlight {

inline constexpr std::int64_t largest_index = 999'999'999'999'999'999;
inline constexpr std::int64_t largest_narrow = std::numeric_limits<std::int32_t>::max();

/// The index of the first feature; detect: 0 if there is such an index, or else 1.
enum class Base { one, zero, detect };

struct ReadOptions {
    Base base = Base::one;
    std::int64_t n_features = -1;  // -1: as many as the text needs
    bool query_id = false;         // whether to keep the qid, which every row must then have
    bool multilabel = false;       // whether a row has any number of labels
};

/// Where something is, counted from 1.
struct Place {
    std::size_t line, column;
    auto operator<=>(const Place&) const = default;
};

/// The text breaks the grammar. `what()` begins with the place.
class ParseError : public std::invalid_argument {
public:
    ParseError(Place place, const std::string& message)
        : std::invalid_argument("line " + std::to_string(place.line) + ", column " +
                                std::to_string(place.column) + ": " + message),
          place(place),
          message(message) {}
    Place place;
    std::string message;
};

/// A column does not fit the type of columns.
struct ColumnTooWide {};

/// The rows of some lines. Columns of a text with Base::detect are one less than its indices.
template <class T>
struct Block {
    std::vector<double> labels;
    std::vector<std::int64_t> label_ends;  // per row, with several labels only
    std::vector<std::int64_t> qids;        // where asked for
    std::vector<std::int64_t> ends;        // per row, of its entries
    GrowingArray<std::int32_t> columns;
    GrowingArray<std::int64_t> wide_columns;  // instead of columns, if is_wide
    GrowingArray<T> values;
    std::size_t size = 0;  // entries
    bool is_wide = false;
    std::size_t lines = 0;            // also those that are no rows
    std::int64_t largest = -1;        // index
    std::optional<Place> zero, top;   // Base::detect: the first index 0, and n_features
    std::optional<ParseError> error;  // at which parsing ended

    void clear() {
        labels.clear();
        label_ends.clear();
        qids.clear();
        ends.clear();
        size = lines = 0;
        largest = -1;
        zero.reset();
        top.reset();
        error.reset();
    }
};

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

}  // namespace pegasos::svmlight
