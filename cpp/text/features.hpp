// Sequences as rows of numbered features, and how rare features are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/vocabulary.hpp"

namespace pegasos {

struct Features {
    std::vector<std::uint64_t> starts{0};     // of the sequences, in positions
    std::vector<std::int64_t> row_starts{0};  // of the positions, in entries
    std::vector<std::int32_t> columns;
    std::vector<float> values;
    std::vector<double>
        precise;  // in place of `values`, once there is one that single precision does not hold

    void add(std::int32_t column, double value) {
        columns.push_back(column);
        if (precise.empty() && static_cast<double>(static_cast<float>(value)) != value) {
            precise.assign(values.begin(), values.end());
            values = {};
            precise.push_back(value);
        } else if (precise.empty()) {
            values.push_back(static_cast<float>(value));
        } else {
            precise.push_back(value);
        }
    }

    /// Drops the features of fewer than `least` entries, here and from the vocabulary.
    void drop_rare(Vocabulary& vocabulary, std::size_t least) {
        std::vector<std::size_t> counts(vocabulary.size());
        for (const std::int32_t column : columns) ++counts[static_cast<std::size_t>(column)];
        const std::vector<std::uint32_t> numbers =
            vocabulary.keep([&](std::size_t number) { return counts[number] >= least; });
        std::size_t kept = 0, from = 0;
        for (std::size_t row = 1; row < row_starts.size(); ++row) {
            for (const auto last = static_cast<std::size_t>(row_starts[row]); from < last; ++from) {
                const std::uint32_t number = numbers[static_cast<std::size_t>(columns[from])];
                if (number == Vocabulary::unknown) continue;
                columns[kept] = static_cast<std::int32_t>(number);
                if (precise.empty())
                    values[kept++] = values[from];
                else
                    precise[kept++] = precise[from];
            }
            row_starts[row] = static_cast<std::int64_t>(kept);
        }
        columns.resize(kept);
        precise.empty() ? values.resize(kept) : precise.resize(kept);
    }
};

}  // namespace pegasos
