// Which rows a solver visits, as an endless stream of row numbers. Solvers take it in blocks, so that they
// can prefetch the rows to come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "random.hpp"

namespace pegasos {

using RowNumber = std::uint32_t;

class Sampler {
public:
    virtual ~Sampler() = default;
    virtual void fill(std::span<RowNumber> block) = 0;
};

/// Independent uniform draws (S0 Fig. 1).
class WithReplacement final : public Sampler {
public:
    WithReplacement(std::size_t n_rows, std::uint64_t seed) : n_rows_(n_rows), random_(seed) {}

    void fill(std::span<RowNumber> block) override {
        for (auto& i : block) i = static_cast<RowNumber>(random_.below(n_rows_));
    }

private:
    std::size_t n_rows_;
    Random random_;
};

inline void shuffle(std::vector<RowNumber>& rows, Random& random) {
    for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
}

/// All rows in random order, again and again: in a new order each epoch, or always in the first one (S0
/// section 7.5).
class Permutations final : public Sampler {
public:
    Permutations(std::size_t n_rows, std::uint64_t seed, bool renew)
        : order_(n_rows), next_(0), renew_(renew), random_(seed) {
        std::iota(order_.begin(), order_.end(), RowNumber{0});
        shuffle(order_, random_);
    }

    void fill(std::span<RowNumber> block) override {
        for (std::size_t filled = 0; filled < block.size();) {
            if (next_ == order_.size()) {
                next_ = 0;
                if (renew_) shuffle(order_, random_);
            }
            const std::size_t count = std::min(block.size() - filled, order_.size() - next_);
            std::copy_n(order_.begin() + static_cast<std::ptrdiff_t>(next_), count,
                        block.begin() + static_cast<std::ptrdiff_t>(filled));
            filled += count;
            next_ += count;
        }
    }

private:
    std::vector<RowNumber> order_;
    std::size_t next_;
    bool renew_;
    Random random_;
};

/// All rows once an epoch, in an order that is random and yet kind to memory: runs of neighbouring rows are
/// put in random order, and the rows of every few runs are shuffled together. A run lies on one or two pages,
/// so that for data larger than the caches most of the waiting for memory goes away, while rows that follow
/// each other in the data, and may be alike, do not follow each other here. The borders of the runs move from
/// epoch to epoch.
class Blocks final : public Sampler {
public:
    Blocks(std::size_t n_rows, std::uint64_t seed) : n_rows_(n_rows), random_(seed) {}

    void fill(std::span<RowNumber> block) override {
        for (auto& i : block) {
            if (window_.empty()) next_window();
            i = window_.back();
            window_.pop_back();
        }
    }

private:
    static constexpr std::size_t run_length = 16, runs_together = 32;

    void next_window() {
        if (runs_.empty()) {
            offset_ = random_.below(run_length);
            runs_.resize((n_rows_ + offset_ + run_length - 1) / run_length);
            std::iota(runs_.begin(), runs_.end(), RowNumber{0});
            shuffle(runs_, random_);
        }
        for (std::size_t taken = 0; taken < runs_together && !runs_.empty(); ++taken) {
            const std::size_t end = (runs_.back() + std::size_t{1}) * run_length - offset_;
            for (std::size_t i = end > run_length ? end - run_length : 0; i < std::min(end, n_rows_); ++i)
                window_.push_back(static_cast<RowNumber>(i));
            runs_.pop_back();
        }
        shuffle(window_, random_);
    }

    std::vector<RowNumber> runs_, window_;
    std::size_t n_rows_, offset_ = 0;
    Random random_;
};

/// Batches of `batch` different rows, each subset equally likely (S0 Fig. 2): the first steps of a
/// Fisher-Yates shuffle. The array is left shuffled, which keeps the next subset uniform and the cost of one
/// at O(batch).
class Subsets final : public Sampler {
public:
    Subsets(std::size_t n_rows, std::size_t batch, std::uint64_t seed)
        : order_(n_rows), batch_(batch), random_(seed) {
        std::iota(order_.begin(), order_.end(), RowNumber{0});
    }

    void fill(std::span<RowNumber> block) override {
        for (std::size_t at = 0; at < block.size(); ++at) {
            const std::size_t i = at % batch_;
            std::swap(order_[i], order_[i + random_.below(order_.size() - i)]);
            block[at] = order_[i];
        }
    }

private:
    std::vector<RowNumber> order_;
    std::size_t batch_;
    Random random_;
};

/// A given sequence, repeated when it ends: how tests run the core and its NumPy twin over the same rows.
class Given final : public Sampler {
public:
    explicit Given(std::vector<RowNumber> sequence) : sequence_(std::move(sequence)), next_(0) {}

    void fill(std::span<RowNumber> block) override {
        for (auto& i : block) {
            i = sequence_[next_];
            next_ = (next_ + 1) % sequence_.size();
        }
    }

private:
    std::vector<RowNumber> sequence_;
    std::size_t next_;
};

}  // namespace pegasos
