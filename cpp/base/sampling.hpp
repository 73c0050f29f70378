// Which rows a solver visits, as an endless stream of row numbers. Solvers take it in blocks, so that they
// can prefetch the rows to come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/state.hpp"

namespace pegasos {

using RowNumber = std::uint32_t;

class Sampler {
public:
    virtual ~Sampler() = default;
    virtual void fill(std::span<RowNumber> block) = 0;
    virtual void state(State& state) = 0;
};

/// Independent uniform draws (S0 Fig. 1).
class WithReplacement final : public Sampler {
public:
    WithReplacement(std::size_t n_rows, std::uint64_t seed) : n_rows_(n_rows), random_(seed) {}

    void fill(std::span<RowNumber> block) override {
        for (auto& i : block) i = static_cast<RowNumber>(random_.below(n_rows_));
    }
    void state(State& state) override { state(random_); }

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
    void state(State& state) override { state(order_, next_, random_); }

private:
    std::vector<RowNumber> order_;
    std::size_t next_;
    bool renew_;
    Random random_;
};

/// All rows once an epoch, in runs of neighbours: the runs in random order, each forwards or backwards, their
/// borders moved from epoch to epoch. Memory is then read in stretches, which makes an epoch over data larger
/// than the caches two to three times faster. Only for rows that are already in random order: where
/// neighbours are alike (sorted by class, say) they pull w to one side together, and more epochs are needed
/// than the faster ones make up for.
class Blocks final : public Sampler {
public:
    Blocks(std::size_t n_rows, std::uint64_t seed) : n_rows_(n_rows), random_(seed) {}

    void fill(std::span<RowNumber> block) override {
        for (auto& i : block) {
            if (left_ == 0) next_run();
            i = row_;
            row_ += step_;  // may wrap round below zero, but is not used then
            --left_;
        }
    }
    void state(State& state) override { state(runs_, offset_, left_, row_, step_, random_); }

private:
    static constexpr std::size_t length = 32;

    void next_run() {
        if (runs_.empty()) {
            offset_ = random_.below(std::min(length, n_rows_));
            runs_.resize((n_rows_ + offset_ + length - 1) / length);
            std::iota(runs_.begin(), runs_.end(), RowNumber{0});
            shuffle(runs_, random_);
        }
        const std::size_t end = (runs_.back() + std::size_t{1}) * length - offset_;
        const std::size_t begin = end > length ? end - length : 0;
        runs_.pop_back();
        left_ = std::min(end, n_rows_) - begin;
        const bool forwards = random_.below(2) == 0;
        row_ = static_cast<RowNumber>(forwards ? begin : begin + left_ - 1);
        step_ = forwards ? RowNumber{1} : static_cast<RowNumber>(-1);
    }

    std::vector<RowNumber> runs_;
    std::size_t n_rows_, offset_ = 0, left_ = 0;
    RowNumber row_ = 0, step_ = 1;
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
    void state(State& state) override { state(order_, random_); }

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
    void state(State& state) override { state(next_); }

private:
    std::vector<RowNumber> sequence_;
    std::size_t next_;
};

/// The sampler of that name; the given visits, where there are some, come first.
inline std::unique_ptr<Sampler> make_sampler(const std::string& sampling,
                                             const std::vector<RowNumber>& sequence, std::size_t n_rows,
                                             std::uint64_t batch, std::uint64_t seed) {
    if (n_rows == 0 || batch == 0) throw std::invalid_argument("no rows to draw from, or none to draw");
    if (sampling == "subset" && batch > n_rows)
        throw std::invalid_argument("a batch of different rows cannot be larger than the number of rows");
    if (!sequence.empty()) return std::make_unique<Given>(sequence);
    if (sampling == "blocks") return std::make_unique<Blocks>(n_rows, seed);
    if (sampling == "permute") return std::make_unique<Permutations>(n_rows, seed, true);
    if (sampling == "fixed") return std::make_unique<Permutations>(n_rows, seed, false);
    if (sampling == "replace") return std::make_unique<WithReplacement>(n_rows, seed);
    if (sampling == "subset") return std::make_unique<Subsets>(n_rows, batch, seed);
    throw std::invalid_argument("unknown sampling '" + sampling + "'");
}

}  // namespace pegasos
