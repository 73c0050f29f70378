// Which rows dual coordinate ascent visits in an epoch, and in what order: those that do not rest, in a new
// random permutation, or in runs of neighbouring rows in random order, so that memory is read in stretches.
//
// Rest: most variables soon sit at a bound with a gradient that points out of the box, and a visit would
// change nothing. Such a row is left out for a number of epochs: that gradient over the usual one (root mean
// square) of the rows visited. What is far from changing is seldom looked at, and all of it again and again;
// no row is left out for good, unlike in Hsieh and others' shrinking. A full check wakes the rows that must
// move.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "base/sampling.hpp"

namespace pegasos {

/// The longest rest, in epochs.
inline constexpr double longest_rest = 255;

/// For how many epochs a row rests whose gradient points out of its box by so much, where `usual` is usual.
inline double epochs_of_rest(double outward, double usual) {
    return std::min(2 * outward / usual, longest_rest);
}

class Visits {
public:
    Visits(std::size_t n_rows, bool blocks, std::uint64_t seed)
        : blocks_(blocks), random_(seed), next_(n_rows) {}

    /// The row has no weight.
    void leave_out(std::size_t row) { next_[row] = never; }

    /// The rows of this epoch: those given, or else those that do not rest; all of them, if every one would.
    /// No more than the budget has left.
    void make_order(const std::vector<RowNumber>& given, double most) {
        if (!given.empty()) {
            order_ = given;
            return;
        }
        gather_active();
        if (n_active_ == 0) {
            for (std::uint32_t& epoch : next_)
                if (epoch != never) epoch = epoch_;
            gather_active();
        }
        order_active();
        if (static_cast<double>(order_.size()) > most)
            order_.resize(static_cast<std::size_t>(std::max(std::ceil(most), 1.0)));
    }

    const std::vector<RowNumber>& order() const { return order_; }
    std::uint32_t epochs() const { return epoch_; }  // made
    void end_epoch() { ++epoch_; }

    /// Leaves a row out for so many of the epochs to come.
    void rest(std::size_t row, double epochs) { next_[row] = epoch_ + static_cast<std::uint32_t>(epochs); }
    bool rests(std::size_t row) const { return next_[row] != never && next_[row] > epoch_; }
    /// For the next epoch; not for rows left out for good.
    void wake(std::size_t row) { next_[row] = epoch_; }

    /// Between two epochs.
    void state(State& state) {
        state(random_, epoch_);
        state.array(next_.data(), next_.size());
    }

private:
    static constexpr std::size_t run_length = 64;
    // Where fewer than one in so many rows is active, those of a run are not neighbours any more, and runs of
    // what is left, always in the same order, take several times as many epochs.
    static constexpr std::size_t few = 4;
    static constexpr std::uint32_t never = UINT32_MAX;

    void gather_active() {
        active_.resize(next_.size());
        n_active_ = 0;
        for (std::size_t i = 0; i < next_.size(); ++i) {  // without a branch: few or many are active
            active_[n_active_] = static_cast<RowNumber>(i);
            n_active_ += next_[i] <= epoch_;
        }
    }

    void order_active() {
        const auto end = active_.begin() + static_cast<std::ptrdiff_t>(n_active_);
        if (!blocks_ || n_active_ < next_.size() / few) {
            order_.assign(active_.begin(), end);
            return shuffle(order_, random_);
        }
        std::vector<RowNumber> runs((n_active_ + run_length - 1) / run_length);
        std::iota(runs.begin(), runs.end(), RowNumber{0});
        shuffle(runs, random_);
        order_.clear();
        for (const RowNumber run : runs) {
            const auto first = active_.begin() + static_cast<std::ptrdiff_t>(run * run_length);
            order_.insert(order_.end(), first,
                          std::min(first + static_cast<std::ptrdiff_t>(run_length), end));
        }
    }

    const bool blocks_;
    Random random_;
    std::uint32_t epoch_ = 0;
    std::vector<std::uint32_t> next_;  // the epoch from which a row is visited again
    std::vector<RowNumber> active_, order_;
    std::size_t n_active_ = 0;  // at the front of active_
};

}  // namespace pegasos
