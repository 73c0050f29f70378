// What goes into a run of a solver and what comes out, whatever the algorithm.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/bounds.hpp"
#include "base/function_ref.hpp"
#include "base/monitor.hpp"
#include "base/state.hpp"
#include "base/threads.hpp"

namespace pegasos {

/// Where a run begins: w and the number of steps t already behind it.
struct Start {
    std::vector<double> w;
    std::uint64_t t = 0;
    std::vector<double> q;                                 // the dual point of the earlier run, or empty
    std::vector<std::vector<double>> counterweights = {};  // slopes met at other fixed intercepts
};

/// Which vector a run returns: that of the best primal value found at a check, of the iterates or of their
/// suffix means, or one that was asked for by name, whatever its value.
enum class Output { best, best_suffix, last, average, suffix, random_stop };

inline bool is_best(Output output) { return output == Output::best || output == Output::best_suffix; }
inline bool is_suffix(Output output) { return output == Output::suffix || output == Output::best_suffix; }
inline bool is_mean(Output output) { return output == Output::average || is_suffix(output); }

inline Output output_named(const std::string& name) {
    if (name == "best") return Output::best;
    if (name == "best_suffix") return Output::best_suffix;
    if (name == "last") return Output::last;
    if (name == "average") return Output::average;
    if (name == "suffix") return Output::suffix;
    if (name == "random_stop") return Output::random_stop;
    throw std::invalid_argument("unknown output '" + name + "'");
}

struct Record {
    double seconds, epoch, primal, dual;
};

/// Makes a copy of the weights that a run would return now, in the layout that its kind of problem has.
using WeightsFunction = FunctionRef<std::vector<double>()>;

/// Is told of a check; true ends the run.
using Report = std::function<bool(const Record&, const WeightsFunction&)>;

/// What a run works with besides its problem: threads, the clock, and whom to tell of each check.
struct Context {
    Team& team;
    Monitor& monitor;
    Report report;
    Checkpoints* checkpoints = nullptr;

    bool tell(const Record& record, const WeightsFunction& weights) const {
        return report && report(record, weights);
    }
    /// Goes on from a checkpoint, where there is one; state.hpp has how.
    template <class F>
    void resume(F state) {
        if (checkpoints) checkpoints->resume(state);
    }
    /// Writes a checkpoint, if it is time for one.
    template <class F>
    void offer(F state) {
        if (checkpoints) checkpoints->offer(state);
    }
};

struct Solution {
    std::vector<double> w;
    std::vector<double> q;  // dual point: alpha_i = C s_i q_i
    std::uint64_t t = 0;    // for a later run to start from
    std::uint64_t steps = 0;
    double epochs = 0;
    Bounds bounds{};
    std::vector<double> met;     // at a fixed intercept: mean slopes since the check before the last
    double intercept_slope = 0;  // and the derivative of the loss in the intercept, over C sum(s)
    double seconds = 0;
    std::string reason;
    std::vector<Record> history;

    void state(State& state) {
        state(w, q, t, steps, epochs, bounds, met, intercept_slope, seconds, reason, history);
    }

    /// Which of the points that a check looked at belong to the bounds.
    struct Kept {
        bool w, q;
    };

    /// Takes the better of each bound, with its allowance for rounding, or where `best` is not wanted the
    /// primal value that a check found, and adds the bounds to the history. Of equals the later is kept. Once
    /// the weights are, the check is told.
    Kept take(Context& context, double epoch, const Bounds& found, bool best = true) {
        const bool first = history.empty();
        if (first) bounds = Bounds::none();
        if (!best) bounds.primal = std::numeric_limits<double>::infinity();
        const bool lower = bounds.lower(found), higher = bounds.raise(found);
        record(context, epoch, bounds);
        return {lower || first, higher || first};
    }

    /// The same of a check at w and q, which are kept where they belong to the bounds. Tells of the check.
    template <class Weights>
    void take(Context& context, double epoch, const Bounds& found, Weights&& w, std::vector<double>&& q) {
        const Kept kept = take(context, epoch, found);
        if (kept.w) this->w = std::forward<Weights>(w);
        if (kept.q) this->q = std::move(q);
        tell(context);
    }

    /// Whether the run is over, and why: by its bounds, or as the time is up, rounding is all that is left
    /// (`stuck`) or `last` says so.
    bool ends(double tol, bool out_of_time, bool last, bool stuck = false) {
        const char* other = out_of_time ? "max_time" : stuck ? "precision" : last ? "budget" : nullptr;
        if (const char* why = bounds.reason(tol, other)) reason = why;
        return !reason.empty();
    }

    /// What the run took. `before`: steps of earlier runs that it continued.
    void finish(Context& context, double epochs, std::uint64_t steps, std::uint64_t before = 0) {
        this->epochs = epochs;
        this->steps = steps;
        t = before + steps;
        seconds = context.monitor.seconds();
    }

    /// Adds a check to the history.
    void record(Context& context, double epoch, const Bounds& found) {
        history.push_back({context.monitor.seconds(), epoch, found.primal, found.dual});
    }

    /// Tells of the last check; where that ends the run, it is the reason, unless there will be another.
    void tell(Context& context) {
        tell(context, [this] { return w; });
    }
    void tell(Context& context, const WeightsFunction& weights) {
        if (context.tell(history.back(), weights)) reason = "callback";
    }
};

/// Runs the loop of a solve. Where that is ended between two checks, what the last one found stands; before
/// the first there is nothing, and the end is the caller's.
template <class Solution, class Loop>
void until_ended(Solution& solution, Loop loop) {
    try {
        loop();
    } catch (const Ended& ended) {
        if (solution.history.empty()) throw;
        solution.reason = ended.reason;
    }
}

}  // namespace pegasos
