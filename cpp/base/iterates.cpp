#include "base/iterates.hpp"

#include <algorithm>
#include <utility>

#include "base/checks.hpp"

namespace pegasos {

Solution Iterates::run(std::uint64_t budget, const char* spent) {
    Solution solution;
    solution.reason = spent;
    context_.resume([&](State& state) { pass_state(state, solution); });
    until_ended(solution, [&] {
        for (;;) {
            const std::uint64_t next_check = steps_in(next_epoch_);
            const bool alive =
                advance(std::min({budget, next_check, next_snapshot(), next_stop()}), solution);
            if (steps_ == next_snapshot()) suffix_.take(steps_, sum_of_iterates());
            while (steps_ == next_stop()) stop();
            const bool last = !alive || steps_ == budget;
            if (!alive) solution.reason = "max_time";
            if (steps_ == next_check || last) {
                std::vector<double> w = output(last);
                const Bounds found = check(w, solution), &bounds = solution.bounds;
                if (solution.take(context_, epochs(), found, is_best(common_.output)).w)
                    solution.w = std::move(w);
                const bool stop =
                    context_.tell(solution.history.back(), [&] { return laid_out(solution.w); });
                const char* reason = bounds.reason(common_.tol, nullptr);
                if (reason && (alive || bounds.reached(common_.tol))) solution.reason = reason;
                if (stop) solution.reason = "callback";
                if (reason || last || stop) break;
                next_epoch_ = next_check_after(next_epoch_, bounds.gap(), common_.tol);
                while (steps_in(next_epoch_) <= steps_) ++next_epoch_;  // a batch may hold several epochs
            }
        }
    });
    solution.finish(context_, epochs(), steps_);
    return solution;
}

/// Makes steps until `steps_ == target`; false when the time is up.
bool Iterates::advance(std::uint64_t target, Solution& solution) {
    while (steps_ < target) {
        context_.offer([&](State& state) { pass_state(state, solution); });
        const std::uint64_t count = std::min<std::uint64_t>(target - steps_, block_.size() / common_.batch);
        const std::span<RowNumber> block(block_.data(), count * common_.batch);
        sampler_.fill(block);
        monitor_.at_epoch(epochs());
        const std::uint64_t made = make_steps(block);
        steps_ += made;
        if (made < count) return false;
    }
    return true;
}

std::vector<double> Iterates::output(bool) {
    if (!is_mean(common_.output) || steps_ == 0) return iterate();
    return suffix_.mean(sum_of_iterates(), steps_);
}

}  // namespace pegasos
