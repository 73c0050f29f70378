// What SGD-r, SGD-s and SGD-m have in common with SGD-s on all classes jointly: passes, the free estimate of
// the gap, checks. sgd.cpp has the symbols.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "base/certificate.hpp"
#include "linear/solvers/solve.hpp"

namespace pegasos {

class SgdPasses {
protected:
    SgdPasses(double C, std::size_t n_rows, const SgdOptions& options, Sampler& sampler, Context& context)
        : options_(options),
          context_(context),
          lambda_(1 / (C * static_cast<double>(n_rows))),
          C_(C),
          n_rows_(n_rows),
          sampler_(sampler),
          block_(1024) {}
    ~SgdPasses() = default;

    Solution run() {
        Solution solution;
        std::uint64_t pass = 0;
        const auto state = [&](State& state) {
            state(solution, pass, t_, square_, errors_, steps_, T_, sampler_);
            this->state(state);
        };
        context_.resume(state);
        until_ended(solution, [&] {
            for (;;) {
                context_.offer(state);
                const std::uint64_t in_period = pass % options_.period;
                const bool many = in_period > 0 && in_period < options_.burst;
                const double losses = make_pass(many ? options_.multiplicity : 1);
                ++pass;
                const bool out_of_time = context_.monitor.timed_out();
                const bool last = out_of_time || pass == options_.max_passes || left() == 0;
                if (last || promising(losses) || std::has_single_bit(pass)) {
                    check(solution);
                    if (!solution.reason.empty() || solution.ends(options_.tol, out_of_time, last)) break;
                }
            }
        });
        solution.finish(context_, epochs(), steps_);
        solution.t = static_cast<std::uint64_t>(t_);
        return solution;
    }

    /// Presents the rows of a block, each l times, and adds their losses before; false when the time is up.
    virtual bool present(std::span<const RowNumber> block, double l, double& losses) = 0;
    /// Bounds now, for the solution to take what is better.
    virtual void check(Solution& solution) = 0;

    /// What a checkpoint holds besides, between two passes.
    virtual void state(State& state) = 0;

    /// A check by the pass at w, with the slopes met. Where dual() is `linear`, whole epochs have S3's bound
    /// as it is.
    Solution::Kept take_bounds(Solution& solution, const Pass& pass, DualPoint& point,
                               const SlopeFunction& slopes, bool linear) {
        const Bound primal = pass.make(point, slopes);
        if (!options_.complete_epochs || steps_ % n_rows_ != 0 || !linear) point.rescale();
        Bounds bounds = between(primal, point.value());
        if (bounds.wants_care(options_.tol) && !context_.monitor.timed_out())
            pass.look_closely(point, bounds);
        return solution.take(context_, epochs(), bounds, !options_.last);
    }

    double theta() const { return lambda_ * t_; }
    double inverse_theta() const { return t_ > 0 ? 1 / theta() : 0; }  // w is zero at t = 0

    const SgdOptions options_;
    Context& context_;
    const double lambda_;
    double t_ = 0, square_ = 0, errors_ = 0;  // square: ||a||^2; errors: M
    double late_ = 0;                         // where t begins
    std::uint64_t steps_ = 0;

private:
    double epochs() const { return static_cast<double>(steps_) / static_cast<double>(n_rows_); }
    std::uint64_t left() const { return options_.max_steps ? options_.max_steps - steps_ : n_rows_; }

    /// Presents as many rows as there are, each `l` times; the sum of the losses met.
    double make_pass(std::uint64_t l) {
        std::uint64_t rest = std::min<std::uint64_t>(n_rows_, left());
        double losses = 0;
        while (rest > 0) {
            const std::span<RowNumber> block(block_.data(), std::min<std::uint64_t>(rest, block_.size()));
            sampler_.fill(block);
            context_.monitor.at_epoch(epochs());
            if (!present(block, static_cast<double>(l), losses)) return losses;
            rest -= block.size();
        }
        T_ += static_cast<double>(l);
        return losses;
    }

    /// Whether the free estimate promises tol. Only complete epochs have the bound.
    bool promising(double losses) const {
        if (!options_.complete_epochs || options_.tol <= 0) return false;
        const double half_square = square_ / (2 * theta() * theta()), mean = C_ / T_;
        const double bound = C_ * errors_ / T_ - (late_ > 0 ? mean * mean * square_ / 2 : half_square);
        return half_square + C_ * losses - bound <= options_.check_factor * options_.tol * bound;
    }

    const double C_;
    const std::size_t n_rows_;
    Sampler& sampler_;
    std::vector<RowNumber> block_;
    double T_ = 0;
};

}  // namespace pegasos
