#include "classes/class_iterates.hpp"

#include <algorithm>
#include <utility>

#include "base/checks.hpp"

namespace pegasos {

Solution ClassIterates::run(std::size_t n, Sampler& sampler, Context& context, ClassMatrix<double>& out,
                            const Steps& make_steps, const std::function<Bounds()>& check) {
    n_ = n;
    Solution solution;
    solution.reason = "budget";
    const bool keep = is_best(options_.output);
    ClassMatrix<double> best(keep ? n_rows_ : 0, n_classes_);
    std::uint64_t next_epoch = 1;
    for (;;) {
        const std::uint64_t next_check = steps_in(next_epoch);
        const bool alive = advance(std::min({options_.max_steps, next_check, next_snapshot()}), sampler,
                                   context, make_steps);
        if (steps_ == next_snapshot()) suffix_.take(steps_, W_.sum_of_iterates());
        const bool last = !alive || steps_ == options_.max_steps;
        if (!alive) solution.reason = "max_time";
        if (steps_ == next_check || last) {
            output(out);
            if (solution.take(context, epochs(), check(), keep).w && keep) std::swap(best, out);
            const char* reason = solution.bounds.reason(options_.tol, nullptr);
            if (reason && (alive || solution.bounds.reached(options_.tol))) solution.reason = reason;
            if (reason || last) break;
            next_epoch = next_check_after(next_epoch, solution.bounds.gap(), options_.tol);
            while (steps_in(next_epoch) <= steps_) ++next_epoch;  // a batch may hold several epochs
        }
    }
    if (keep) std::swap(best, out);
    solution.steps = steps_;
    solution.epochs = epochs();
    solution.seconds = context.monitor.seconds();
    return solution;
}

/// Makes steps until `steps_ == target`; false when the time is up.
bool ClassIterates::advance(std::uint64_t target, Sampler& sampler, Context& context,
                            const Steps& make_steps) {
    while (steps_ < target) {
        const std::uint64_t count = std::min<std::uint64_t>(target - steps_, block_.size() / options_.batch);
        const std::span<RowNumber> block(block_.data(), count * options_.batch);
        sampler.fill(block);
        context.monitor.at_epoch(epochs());
        const std::uint64_t made = make_steps(block);
        steps_ += made;
        if (made < count) return false;
    }
    return true;
}

/// The matrix to check.
void ClassIterates::output(ClassMatrix<double>& W) const {
    if (!is_mean(options_.output) || steps_ == 0) return W_.value(W);
    const std::vector<double> mean = suffix_.mean(W_.sum_of_iterates(), steps_);
    std::copy(mean.begin(), mean.end(), W.values().begin());
}

}  // namespace pegasos
