// How solvers of random steps run: batches of examples in blocks, which vector is returned, when it is
// checked. What a step is, they say themselves.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "base/suffix.hpp"

namespace pegasos {

struct IterateOptions {
    std::uint64_t batch = 1;
    bool project = false;
    Output output = Output::last;
    std::uint64_t max_steps = 1;
    double tol = 0;
};

class Iterates {
protected:
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

    /// n: the examples of an epoch.
    Iterates(const IterateOptions& options, std::size_t n, Sampler& sampler, Context& context)
        : context_(context),
          monitor_(context.monitor),
          common_(options),
          n_(n),
          sampler_(sampler),
          block_(options.batch * std::max<std::uint64_t>(1, 1024 / options.batch)) {}
    ~Iterates() = default;

    /// Steps and checks until `budget` steps are made, the reason of which is `spent`. The weights of the
    /// solution are one of the outputs.
    Solution run(std::uint64_t budget, const char* spent);

    /// Makes the steps of a block, a batch after the other; how many, which is all of them unless the time is
    /// up.
    virtual std::uint64_t make_steps(std::span<const RowNumber> block) = 0;
    virtual std::vector<double> iterate() const = 0;
    virtual std::vector<double> sum_of_iterates() const = 0;
    virtual Bounds check(const std::vector<double>& w, Solution& solution) = 0;
    /// The vector to check.
    virtual std::vector<double> output(bool last);
    /// Weights of the solution as they are told.
    virtual std::vector<double> laid_out(const std::vector<double>& w) { return w; }
    /// A step after which `stop` is called.
    virtual std::uint64_t next_stop() const { return never; }
    virtual void stop() {}
    /// What a checkpoint holds of the steps, between two.
    virtual void state(State& state) = 0;

    Context& context_;
    Monitor& monitor_;

private:
    double epochs() const { return static_cast<double>(steps_ * common_.batch) / static_cast<double>(n_); }
    std::uint64_t steps_in(std::uint64_t epochs) const {
        return (epochs * n_ + common_.batch - 1) / common_.batch;
    }
    std::uint64_t next_snapshot() const { return is_suffix(common_.output) ? suffix_.next : never; }
    bool advance(std::uint64_t target, Solution& solution);
    void pass_state(State& state, Solution& solution) {
        state(solution, suffix_, steps_, next_epoch_, sampler_);
        this->state(state);
    }

    const IterateOptions common_;
    const std::size_t n_;
    Sampler& sampler_;
    std::vector<RowNumber> block_;
    Suffix suffix_;
    std::uint64_t steps_ = 0, next_epoch_ = 1;  // the latter: of the next check
};

}  // namespace pegasos
