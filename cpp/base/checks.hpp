// When a full check of the bounds is worth its pass over the rows.
//
// The margins met during an epoch estimate the gap for nothing. They are half an epoch old, on average, so
// that the gap expected is smaller: by the square root of what the estimate fell by since the epoch before. A
// check is due when that gap, times what earlier checks found it to be off by, promises `tol`; and after
// epochs f, 2 f, 4 f, ..., so that there is a history and a bound even where nothing is promised. Without
// `tol` nothing can be, and f is 1. Where checks find more than ten times what was expected, the margins tell
// nothing: the next check waits for half of the epochs that the gap, falling as it did, takes to `tol`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pegasos {

class Checks {
public:
    /// `usual`: the gap over the one expected, before a check has told; larger where a check in vain costs
    /// more. `first_record`: f, later where a check costs more than an epoch. `aged`: whether the gaps met
    /// are half an epoch old; otherwise they are expected as they are.
    explicit Checks(double tol, double usual = 0.9, std::uint64_t first_record = 16, bool aged = true)
        : tol_(tol), factor_(usual), first_record_(tol > 0 ? first_record : 1), aged_(aged) {}

    /// An epoch was made, in which the margins told of this gap.
    void met(double gap) {
        ++epochs_;
        expected_ = gap * (aged_ && gap >= 0 && gap < before_ ? std::sqrt(gap / before_) : 1);
        before_ = gap;
    }

    /// Whether there was an epoch.
    bool begun() const { return epochs_ > 0; }

    /// What is usual where epochs are of several kinds; no matter once a check has told.
    void set_usual(double usual) {
        if (!told_) factor_ = usual;
    }

    /// Whether the last epoch is one after which there is always a check.
    bool at_record() const {
        const std::uint64_t times = epochs_ / first_record_;
        return times > 0 && epochs_ % first_record_ == 0 && (times & (times - 1)) == 0;
    }

    /// Whether the gap expected promises `tol`. `besides` is what the gap has that the margins do not show.
    bool promises(double dual, double besides = 0) const {
        return tol_ > 0 && factor_ * expected_ + besides <= tol_ * dual;
    }
    bool due(double dual, double besides = 0) {
        goal_ = tol_ * dual;
        return at_record() || (epochs_ >= wait_until_ && promises(dual, besides));
    }

    /// A check found this gap, without what it has besides.
    void found(double gap) {
        const bool told_nothing = !(expected_ > 0) || gap > most_off * expected_;
        const double fallen = std::log(last_gap_ / gap) / static_cast<double>(epochs_ - last_check_);
        if (told_nothing && goal_ > 0 && gap > goal_ && fallen > 0 && std::isfinite(fallen))
            wait_until_ =
                epochs_ + static_cast<std::uint64_t>(std::min(std::log(gap / goal_) / fallen / 2, 1e6));
        last_gap_ = gap;
        last_check_ = epochs_;
        if (!(expected_ > 0)) return;
        factor_ = std::clamp(1.1 * gap / expected_, 0.5, most_off);
        told_ = true;
    }

private:
    static constexpr double most_off = 10;
    double tol_, factor_, expected_ = 0, before_ = 0, goal_ = 0, last_gap_ = 0;
    std::uint64_t first_record_, epochs_ = 0, last_check_ = 0, wait_until_ = 0;
    bool aged_, told_ = false;
};

/// The epoch after which a solver of random steps checks next. Its gap falls about as 1 / epochs, which tells
/// when it may reach tol; never before a third, never after twice the epochs so far, so that checks stay a
/// small part of the whole and a fit runs on for little longer than it must.
inline std::uint64_t next_check_after(std::uint64_t epoch, double gap, double tol) {
    const double growth = tol > 0 ? std::clamp(gap / tol, 4.0 / 3, 2.0) : 2;
    return std::max(epoch + 1, static_cast<std::uint64_t>(static_cast<double>(epoch) * growth));
}

}  // namespace pegasos
