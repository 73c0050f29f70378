// svmlight text to CSR arrays, by a team of threads.
//
// Text is cut into blocks by position, whatever the number of threads. A thread takes the next block, parses
// it into arrays small enough for its cache, and hands it in. Blocks get their place in the arrays of all in
// the order of the text, and are copied there by whichever thread made the sequence complete. So the result
// does not depend on timing, the first error of the text is the one reported, and its line is known: the
// lines of the blocks before it have been counted by then.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/threads.hpp"
#include "text/svmlight_parser.hpp"
#include "text/svmlight_text.hpp"

namespace pegasos::svmlight {

/// CSR arrays, and what rows have beside entries. SciPy wants one type for columns and row starts.
template <class T>
struct Table {
    std::size_t rows = 0, entries = 0, n_labels = 0;
    GrowingArray<double> labels;
    GrowingArray<std::int64_t> label_ends, qids, starts;
    GrowingArray<T> values;
    GrowingArray<std::int32_t> columns;
    GrowingArray<std::int64_t> wide_columns;
    bool is_wide = false;
    std::int64_t n_features = 0;  // the given number, or one more than the largest column so far

    /// Columns of 64 bits instead of 32, or the other way round.
    void set_wide(bool wide) {
        if (wide == is_wide) return;
        const auto convert = [&](auto& from, auto& to) {
            to.set_capacity(from.capacity());
            std::copy_n(from.data(), entries, to.data());
            from = {};
        };
        if (wide)
            convert(columns, wide_columns);
        else
            convert(wide_columns, columns);
        is_wide = wide;
    }

    /// Row starts in the type of narrow columns.
    GrowingArray<std::int32_t> narrow_starts() const {
        GrowingArray<std::int32_t> narrow;
        narrow.set_capacity(rows + 1);
        std::transform(starts.data(), starts.data() + rows + 1, narrow.data(),
                       [](std::int64_t start) { return static_cast<std::int32_t>(start); });
        return narrow;
    }
};

template <class T>
class Reader {
public:
    Reader(const ReadOptions& options, std::size_t threads, std::size_t block_bytes)
        : options_(options),
          block_bytes_(std::max<std::size_t>(block_bytes, 1)),
          team_(threads),
          windows_(threads) {}

    /// Adds the rows of some text, which continues the text before and ends with a line. `poll` is called now
    /// and then on the calling thread and may throw. Throws ParseError; the reader is of no use after that.
    void add(const Text& text, const std::function<void()>& poll) {
        text_ = &text;
        poll_ = &poll;
        next_ = done_ = 0;
        n_blocks_ = (text.size() + block_bytes_ - 1) / block_bytes_;
        if (n_blocks_ < 2)
            work(0);
        else
            team_.run([this](std::size_t k) { work(k); });
    }

    /// The rows added since the last call.
    Table<T> take() {
        Table<T> result = std::move(table_);
        table_ = {};
        if (result.starts.capacity() == 0) {  // no text at all
            result.starts.set_capacity(1);
            result.starts.data()[0] = 0;
        }
        const bool zero_based = options_.base == Base::zero || zero_;
        if (options_.base == Base::detect && zero_) {
            const auto shift = [&](auto* columns) {
                for (std::size_t k = 0; k < result.entries; ++k) ++columns[k];
            };
            result.is_wide ? shift(result.wide_columns.data()) : shift(result.columns.data());
        }
        result.n_features = options_.n_features;
        if (result.n_features < 0)
            result.n_features = std::max<std::int64_t>(largest_ + (zero_based ? 1 : 0), 0);
        result.set_wide(result.n_features > largest_narrow ||
                        result.entries > static_cast<std::size_t>(largest_narrow));
        return result;
    }

private:
    using Lock = std::unique_lock<std::mutex>;
    using BlockPointer = std::unique_ptr<Block<T>>;
    static constexpr auto patience = std::chrono::milliseconds(30);

    /// One thread's part of an addition.
    void work(std::size_t k) {
        auto last_poll = std::chrono::steady_clock::now();
        const auto poll = [&] {
            const auto now = std::chrono::steady_clock::now();
            if (k != 0 || !*poll_ || now - last_poll < patience) return;
            last_poll = now;
            (*poll_)();
        };
        try {
            for (;;) {
                poll();
                Lock lock(mutex_);
                if (failed_ || next_ == n_blocks_) break;
                if (next_ - done_ >= 4 * team_.size()) {  // a thread is behind: let it catch up
                    changed_.wait_for(lock, patience);
                    continue;
                }
                const std::size_t number = next_++;
                BlockPointer block = spare_block();
                lock.unlock();
                parse(number, windows_[k], *block);
                lock.lock();
                waiting_.emplace(number, std::move(block));
                place_blocks(lock);
            }
        } catch (...) {
            const Lock lock(mutex_);
            failed_ = true;
            changed_.notify_all();
            throw;
        }
    }

    BlockPointer spare_block() {
        if (spare_.empty()) return std::make_unique<Block<T>>();
        BlockPointer block = std::move(spare_.back());
        spare_.pop_back();
        return block;
    }

    void parse(std::size_t number, Window& window, Block<T>& block) const {
        const std::size_t first = number * block_bytes_;
        Lines lines = text_->lines(first, std::min(first + block_bytes_, text_->size()), window);
        if (first == 0 && !started_ && lines.text.starts_with("\xef\xbb\xbf")) lines.text.remove_prefix(3);
        parse_block(options_, lines.text, lines.limit, block);
    }

    /// Gives blocks that are next their place, and copies them there.
    void place_blocks(Lock& lock) {
        while (!failed_) {
            const auto found = waiting_.find(done_);
            if (found == waiting_.end()) return;
            BlockPointer block = std::move(found->second);
            waiting_.erase(found);
            check(*block);
            make_room(lock, *block);
            const std::size_t row = table_.rows, entry = table_.entries, label = table_.n_labels;
            if (row == 0) table_.starts.data()[0] = 0;
            table_.rows += block->ends.size();
            table_.entries += block->size;
            table_.n_labels += block->labels.size();
            lines_ += block->lines;
            started_ = true;
            ++done_;
            ++copying_;
            changed_.notify_all();
            lock.unlock();
            copy(*block, row, entry, label);
            lock.lock();
            if (--copying_ == 0) changed_.notify_all();
            spare_.push_back(std::move(block));
        }
    }

    /// What is wrong with the block, by the lines of all the text.
    void check(const Block<T>& block) {
        const auto merge = [&](std::optional<Place>& all, const std::optional<Place>& own) {
            if (!all && own) all = Place{lines_ + own->line, own->column};
        };
        merge(zero_, block.zero);
        merge(top_, block.top);
        largest_ = std::max(largest_, block.largest);
        if (zero_ && top_) {
            const std::string top = "index " + std::to_string(options_.n_features) + " = n_features";
            if (*zero_ < *top_)
                throw ParseError(*top_, top + ", but line " + std::to_string(zero_->line) +
                                            " has index 0; pass a larger n_features or none");
            throw ParseError(*zero_, "index 0, but line " + std::to_string(top_->line) + " has " + top +
                                         "; pass a larger n_features or none");
        }
        if (block.error)
            throw ParseError({lines_ + block.error->place.line, block.error->place.column},
                             block.error->message);
    }

    /// Makes room for one more block: for all that will come, to judge by the text so far.
    void make_room(Lock& lock, const Block<T>& block) {
        const std::size_t bytes = std::min((done_ + 1) * block_bytes_, text_->size());
        const double share = done_ == 0 && n_blocks_ > 8
                                 ? 1.03 * static_cast<double>(text_->size()) / static_cast<double>(bytes)
                                 : 1.0;
        const auto grow = [&](auto& array, std::size_t used, std::size_t more) {
            if (used + more <= array.capacity()) return;
            changed_.wait(lock, [&] { return copying_ == 0; });  // nobody writes to memory that moves
            const auto expected = static_cast<std::size_t>(static_cast<double>(more) * share);
            array.set_capacity(
                std::max({used + expected, array.capacity() + array.capacity() / 2, used + more}));
        };
        if (block.is_wide && !table_.is_wide) {
            changed_.wait(lock, [&] { return copying_ == 0; });
            table_.set_wide(true);
        }
        grow(table_.labels, table_.n_labels, block.labels.size());
        grow(table_.starts, table_.rows, block.ends.size() + 1);
        if (options_.multilabel) grow(table_.label_ends, table_.rows, block.ends.size());
        if (options_.query_id) grow(table_.qids, table_.rows, block.ends.size());
        grow(table_.values, table_.entries, block.size);
        if (table_.is_wide)
            grow(table_.wide_columns, table_.entries, block.size);
        else
            grow(table_.columns, table_.entries, block.size);
    }

    void copy(const Block<T>& block, std::size_t row, std::size_t entry, std::size_t label) {
        std::copy(block.labels.begin(), block.labels.end(), table_.labels.data() + label);
        if (options_.query_id) std::copy(block.qids.begin(), block.qids.end(), table_.qids.data() + row);
        const auto shifted = [](const auto& from, std::int64_t* to, std::size_t by) {
            for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] + static_cast<std::int64_t>(by);
        };
        if (options_.multilabel) shifted(block.label_ends, table_.label_ends.data() + row, label);
        shifted(block.ends, table_.starts.data() + row + 1, entry);
        std::copy_n(block.values.data(), block.size, table_.values.data() + entry);
        if (block.is_wide)
            std::copy_n(block.wide_columns.data(), block.size, table_.wide_columns.data() + entry);
        else if (table_.is_wide)
            std::copy_n(block.columns.data(), block.size, table_.wide_columns.data() + entry);
        else
            std::copy_n(block.columns.data(), block.size, table_.columns.data() + entry);
    }

    ReadOptions options_;
    std::size_t block_bytes_;
    Team team_;
    std::vector<Window> windows_;  // of each thread

    const Text* text_ = nullptr;
    const std::function<void()>* poll_ = nullptr;
    std::size_t n_blocks_ = 0;

    std::mutex mutex_;  // of all below
    std::condition_variable changed_;
    std::size_t next_ = 0, done_ = 0;  // the next block to parse, and to give a place
    std::size_t copying_ = 0;          // threads that copy to the table
    bool failed_ = false;
    std::map<std::size_t, BlockPointer> waiting_;  // parsed
    std::vector<BlockPointer> spare_;
    Table<T> table_;
    std::size_t lines_ = 0;            // in the blocks that have their place
    bool started_ = false;             // whether there is such a block
    std::int64_t largest_ = -1;        // index
    std::optional<Place> zero_, top_;  // Base::detect: the first index 0, and n_features
};

}  // namespace pegasos::svmlight
