// CSR arrays to svmlight text. The grammar is in svmlight_parser.hpp.
#pragma once

#include <charconv>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "text/svmlight_block.hpp"
#include "text/svmlight_numbers.hpp"

namespace pegasos::svmlight {

/// What is to be written, numbers finite.
template <class T, class Index>
struct Rows {
    std::span<const double> labels;              // one a row,
    std::span<const std::int64_t> label_starts;  // unless this is not empty
    std::span<const std::int64_t> qids;          // or empty
    std::span<const T> values;
    std::span<const Index> columns, starts;
    bool zero_based;
};

/// One line per row. Stored zeros are written: the arrays come back as they were.
template <class T, class Index>
std::string format(const Rows<T, Index>& rows) {
    const auto starts = rows.starts;
    if (starts.empty() || rows.values.size() != rows.columns.size())
        throw std::invalid_argument("lengths differ");
    const std::size_t n_rows = starts.size() - 1;
    const bool several = !rows.label_starts.empty();
    if ((several ? rows.label_starts.size() - 1 : rows.labels.size()) != n_rows ||
        (!rows.qids.empty() && rows.qids.size() != n_rows))
        throw std::invalid_argument("lengths differ");
    const auto check = [](auto first, auto last, std::size_t size) {
        if (first < 0 || last < first || static_cast<std::size_t>(last) > size)
            throw std::invalid_argument("row starts out of order");
    };
    const std::int64_t first = rows.zero_based ? 0 : 1;
    std::string text;
    char buffer[80];  // a blank, an index, a colon and a number take half of it
    char* const end = buffer + sizeof buffer;
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (several) {
            check(rows.label_starts[i], rows.label_starts[i + 1], rows.labels.size());
            for (auto k = rows.label_starts[i]; k < rows.label_starts[i + 1]; ++k) {
                if (k > rows.label_starts[i]) text += ',';
                text.append(buffer, write_number(buffer, end, rows.labels[static_cast<std::size_t>(k)]));
            }
        } else {
            text.append(buffer, write_number(buffer, end, rows.labels[i]));
        }
        if (!rows.qids.empty())
            text.append(" qid:").append(buffer, std::to_chars(buffer, end, rows.qids[i]).ptr);
        check(starts[i], starts[i + 1], rows.values.size());
        std::int64_t previous = -1;
        for (auto k = static_cast<std::size_t>(starts[i]); k < static_cast<std::size_t>(starts[i + 1]); ++k) {
            const std::int64_t column = rows.columns[k];
            if (column <= previous) throw std::invalid_argument("columns must increase along a row");
            if (column > largest_index - first)
                throw std::invalid_argument("column " + std::to_string(column) + " would get index " +
                                            std::to_string(column + first) + ", and the largest is " +
                                            std::to_string(largest_index) + "; use fewer columns");
            previous = column;
            buffer[0] = ' ';
            char* out = std::to_chars(buffer + 1, end, column + first).ptr;
            *out++ = ':';
            text.append(buffer, write_number(out, end, rows.values[k]));
        }
        text += '\n';
    }
    return text;
}

}  // namespace pegasos::svmlight
