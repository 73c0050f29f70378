// Sequential minimal optimisation in nested working sets (problem.hpp has the symbols).
//
// Rows of the kernel matrix are what costs. So that as few as possible are computed, and those many at a
// time:
//
// 1. Of all variables, a few thousand are chosen, and the square of the kernel matrix that belongs to them is
//    computed: those that gain most by a step of their own at the present b, as many to grow as to shrink,
//    and those strictly between their bounds, which will have to give way. Before anything is known of them,
//    all variables are gone through once in random order, a thousand at a time.
// 2. Within these, blocks of a few hundred are chosen in the same way, but with all that are between their
//    bounds, as these hang together,
// 3. and solved by steps of one pair or one variable (dense_smo.hpp), where these take long by steps of all
//    that are between their bounds (newton_steps.hpp).
// 4. When the chosen ones are solved well enough, the responses of all examples are brought up to date by
//    the kernel rows of those that changed. The bounds are then known, for all examples.
//
// Of many examples with few support vectors, most are soon settled at a bound. A sample of all is solved
// first, then those it leaves unsettled, each as a problem of its own (smo_subsets.hpp), whose kernel rows
// are shorter; the responses of the others need no row written down. All examples are then looked at two or
// three times.
//
// A variable that is tried and goes back to zero thus never costs a whole row, and what others call shrinking
// is the rule here: only the chosen ones are worked on between two looks at all.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "kernel/gram.hpp"
#include "kernel/solvers/dense_smo.hpp"
#include "kernel/solvers/newton_steps.hpp"
#include "kernel/solvers/smo_subsets.hpp"
#include "kernel/solvers/solve.hpp"

namespace pegasos {
namespace {

template <class Real>
class Smo {
public:
    Smo(const KernelProblem& problem, Gram<Real>& gram, const SmoOptions& options, Context& context)
        : problem_(problem),
          gram_(gram),
          options_(options),
          context_(context),
          random_(options.seed),
          beta_(problem.size()),
          f_(problem.n_rows),
          smo_(problem.free_intercept),
          newton_steps_(problem.free_intercept, context.team, context.monitor),
          in_parts_(options.goal == 0 && problem.n_rows >= options.part_from &&
                    options.working_set < problem.size() && gram.source().accumulates()) {
        if (options.goal > 0) next_ = problem.size();  // the slopes are known
    }

    KernelSolution run(const std::vector<double>& start) {
        KernelSolution solution;
        if (!start.empty()) begin(start);
        BestOfDual<Real> best(problem_, gram_);
        double last_gap = std::numeric_limits<double>::infinity();
        constexpr double rounding = sizeof(Real) == 4 ? 1e-9 : 1e-15;
        double best_dual = -std::numeric_limits<double>::infinity();
        int slow = 0, stuck = 0, idle = 0;
        const auto state = [&](State& state) {
            state(solution, best, last_gap, best_dual, slow, stuck, idle);
            pass_state(state);
        };
        context_.resume(state);
        for (;;) {
            context_.offer(state);
            solution.epochs = epochs();
            const KernelBounds now = best.look(beta_, f_, solution, context_);
            if (!solution.reason.empty()) break;
            b_ = now.b;
            const double gap = now.plain.primal - now.plain.dual;
            if (solution.history.size() == 1 && !start.empty() && gap > poor * now.plain.primal) begin_anew();
            slow = gap < 0.99 * last_gap ? 0 : slow + 1;
            last_gap = std::min(gap, last_gap);
            // Small working sets make many small gains; only rounding makes none at all.
            const bool gained = now.plain.dual > best_dual + rounding * std::abs(best_dual);
            stuck = gained || in_parts_ || next_ < problem_.size() ? 0 : stuck + 1;
            best_dual = std::max(best_dual, now.plain.dual);
            if ((options_.goal > 0 && gap <= options_.goal) ||
                (options_.tol > 0 && now.plain.gap() <= options_.tol))
                solution.reason = "tol";
            else if (context_.monitor.timed_out())
                solution.reason = "max_time";
            else if (epochs() >= options_.max_epochs)
                solution.reason = "budget";
            else if (stuck > 20 || gap <= 1e-15 * std::abs(now.plain.primal))
                solution.reason = "precision";
            if (!solution.reason.empty()) break;
            const double goal = options_.goal > 0
                                    ? options_.goal
                                    : std::max(options_.tol, 1e-15) * std::max(now.plain.dual, 0.0);
            try {
                // One of several problems has a first point, even if that takes more than its share.
                std::optional<Monitor::Strict> strict;
                if (!options_.part) strict.emplace(context_.monitor, steps_ == 0);
                if (in_parts_ && improve_part(gap, goal)) continue;
                const bool at_random = next_ < problem_.size();  // where there may be nothing to gain
                idle = improve(gap, goal, slow) || at_random ? 0 : idle + 1;
            } catch (const Ended& ended) {  // half done: the last look was at what there is
                if (options_.part) throw;
                solution.reason = ended.reason;
                break;
            }
            if (idle > 5) {
                solution.reason = "precision";
                break;
            }
        }
        if (!options_.part)
            best.finish(solution);
        else
            solution.beta = beta_;
        solution.steps = steps_;
        solution.updates = problem_.free_intercept ? 2 * steps_ : steps_;
        solution.evaluations = gram_.evaluations() + part_evaluations_;
        solution.seconds = context_.monitor.seconds();
        return solution;
    }

    /// Of the examples, at the end of a run.
    const std::vector<double>& responses() const { return f_; }

private:
    static constexpr std::size_t first_pass = 1024;
    static constexpr double poor = 0.5;  // the relative gap of a start that tells little
    // Parts, as shares of the examples, and how many of the sample's may become support vectors. A larger
    // part costs little, as each kernel value is needed once anyway; another one, as much as the first.
    static constexpr double sample = 1.0 / 3, unsettled = 0.65, most_moving = 0.25;

    double epochs() const { return static_cast<double>(steps_) / static_cast<double>(problem_.n_rows); }

    /// Between two choices.
    void pass_state(State& state) {
        state(random_, b_, steps_, order_, next_, in_parts_, last_part_gap_, part_evaluations_, gram_);
        state.array(beta_.data(), beta_.size());
        state.array(f_.data(), f_.size());
        std::vector<RowNumber> rows = local_rows_;
        state(rows);
        if (next_ > problem_.size() || (!order_.empty() && order_.size() != problem_.size()) ||
            rows.size() > problem_.size() ||
            std::any_of(order_.begin(), order_.end(), [&](RowNumber v) { return v >= problem_.size(); }) ||
            std::any_of(rows.begin(), rows.end(), [&](RowNumber i) { return i >= problem_.n_rows; }))
            State::refuse();
        if (state.reads() && !rows.empty()) {
            const double evaluations = gram_.evaluations();
            make_square(rows);
            gram_.count(evaluations - gram_.evaluations());  // as if it had been kept
        }
    }

    /// From a point that is far from the optimum all variables are gone through at random, as from zero.
    void begin_anew() {
        next_ = 0;
        in_parts_ = false;
    }

    /// At this point or, if that has to be brief and the time of the whole fit ends, at zero.
    void begin(const std::vector<double>& start) {
        if (!options_.brief) return begin_at(start);
        try {
            const Monitor::Strict strict(context_.monitor, true);
            begin_at(start);
        } catch (const Ended&) {
            std::fill(beta_.begin(), beta_.end(), 0.0);
            std::fill(f_.begin(), f_.end(), 0.0);
        }
    }

    void begin_at(const std::vector<double>& start) {
        next_ = problem_.size();
        std::vector<RowNumber> which;
        std::vector<double> steps;
        collect(
            [&](std::size_t v) { return beta_[v] = std::clamp(start[v], problem_.lo[v], problem_.hi[v]); },
            which, steps);
        gram_.add(which, steps, f_, [&](std::size_t) { return !in_parts_; });
    }

    /// The examples for which the sum of change(v) over their variables is not zero, and those sums.
    template <class Change>
    void collect(Change change, std::vector<RowNumber>& which, std::vector<double>& steps) {
        std::vector<double> by_row(problem_.n_rows);
        for (std::size_t v = 0; v < problem_.size(); ++v) by_row[problem_.row[v]] += change(v);
        for (std::size_t i = 0; i < problem_.n_rows; ++i)
            if (by_row[i] != 0) {
                which.push_back(static_cast<RowNumber>(i));
                steps.push_back(by_row[i]);
            }
    }

    /// Solves examples at random on their own, then those that are not settled, as long as each time at
    /// least halves the gap. False where whole rows of the kernel matrix are the better way: at once where
    /// many examples become support vectors, as these are not settled.
    bool improve_part(double gap, double goal) {
        if (next_ == 0) {
            in_parts_ = solve_part(some_at_random(problem_.n_rows, sample, random_),
                                   std::max(0.02, options_.tol), 0, most_moving);
            if (in_parts_) next_ = problem_.size();
            return in_parts_;
        }
        in_parts_ = goal > 0 && gap < 0.5 * last_part_gap_ &&
                    solve_part(least_settled(problem_, unsettled, beta_, f_, b_), 0,
                               std::max(0.7 * goal, 1e-7 * gap), 1);
        last_part_gap_ = gap;
        return in_parts_;
    }

    /// Solves the problem of some examples, to a relative gap or one that is not, and tells the others.
    /// False, and nothing changes, where no variable of it moved, or more than this share of its examples.
    bool solve_part(const std::vector<bool>& some, double tol, double goal, double most) {
        const SmoSubset part(problem_, some, beta_, f_, b_);
        const double n = static_cast<double>(problem_.n_rows), m = static_cast<double>(part.rows.size());
        if (part.rows.empty()) return false;
        SmoOptions options = options_;
        options.working_set =
            std::min(options_.working_set, std::max<std::size_t>(part.rows.size() / 6, 1024));
        options.tol = tol;
        options.goal = goal;
        options.part = true;
        options.max_epochs = (options_.max_epochs - epochs()) * n / m;
        options.seed = random_.next();
        Context context{context_.team, context_.monitor, {}};
        PartKernel<Real> source(gram_.source(), part.rows);
        Gram<Real> gram(source, static_cast<std::size_t>(static_cast<double>(gram_.most()) * n / m),
                        context.team, context.monitor);
        Smo smo(part.problem, gram, options, context);
        const KernelSolution found = smo.run({});
        steps_ += found.steps;
        part_evaluations_ += found.evaluations;
        gram_.note({}, gram.drift());

        const std::vector<double> before = beta_;
        for (std::size_t k = 0; k < part.variables.size(); ++k) {
            const std::size_t v = part.variables[k];
            beta_[v] = part.changed(problem_, k, before[v], found.beta[k]);
        }
        std::vector<RowNumber> which;
        std::vector<double> steps;
        collect([&](std::size_t v) { return beta_[v] - before[v]; }, which, steps);
        if (which.empty() || static_cast<double>(which.size()) > most * m) {
            beta_ = before;
            return false;
        }
        for (std::size_t k = 0; k < part.rows.size(); ++k) f_[part.rows[k]] += smo.responses()[k];
        if (part.others.empty()) return true;
        std::vector<double> sums(part.others.size());
        gram_.source().accumulate(which, steps, part.others, sums.data(), context.team, context.monitor);
        gram_.note(steps);
        part_evaluations_ += static_cast<double>(which.size()) * (n - m);
        for (std::size_t k = 0; k < sums.size(); ++k) f_[part.others[k]] += sums[k];
        return true;
    }

    /// Chooses, solves, and brings the responses up to date. False where nothing moved.
    bool improve(double gap, double goal, int slow) {
        choose(slow);
        const std::size_t m = chosen_.size();
        std::vector<RowNumber> rows(m);
        for (std::size_t k = 0; k < m; ++k) rows[k] = problem_.row[chosen_[k]];
        if (rows != local_rows_) make_square(rows);  // where all are chosen each time, it is there
        // Less the intercept: the slopes that matter are then next to zero, where single precision is fine.
        const double shift = sizeof(Real) == sizeof(float) ? b_ : 0;
        for (std::size_t k = 0; k < m; ++k) {
            const std::size_t v = chosen_[k];
            local_.set(k, beta_[v], problem_.lo[v], problem_.hi[v],
                       problem_.t[v] - f_[problem_.row[v]] - shift);
        }
        solve_chosen(gap, goal, slow);

        std::vector<RowNumber> which;
        std::vector<double> steps;
        std::vector<double> change(problem_.size());
        for (std::size_t k = 0; k < m; ++k) {
            const std::size_t v = chosen_[k];
            const double next = local_.down[k] == 0 ? problem_.lo[v]
                                : local_.up[k] == 0 ? problem_.hi[v]
                                                    : local_.beta[k];
            change[v] = next - beta_[v];
            beta_[v] = next;
        }
        if (problem_.free_intercept) balance(change);
        collect([&](std::size_t v) { return change[v]; }, which, steps);
        if (which.empty()) return false;
        // Variables that came to a bound are likely to stay there, and their rows not to be needed again.
        std::vector<bool> inside(problem_.n_rows);
        for (const RowNumber v : chosen_)
            if (beta_[v] > problem_.lo[v] && beta_[v] < problem_.hi[v]) inside[problem_.row[v]] = true;
        gram_.add(which, steps, f_, [&](std::size_t k) { return inside[which[k]]; },
                  {rows, local_.matrix(), local_.padded()});
        return true;
    }

    /// The kernel matrix of the chosen ones.
    void make_square(const std::vector<RowNumber>& rows) {
        local_rows_.clear();  // lest half of one be taken for it
        local_.resize(rows.size());
        gram_.square(rows, local_.matrix(), local_.padded());
        local_rows_ = rows;
    }

    /// Variables that came to a bound by rounding leave the sum of all a little off zero: one between its
    /// bounds makes up for it.
    void balance(std::vector<double>& change) {
        Sum total;
        for (const double own : beta_) total.add(own);
        const double missing = total.value();
        std::size_t roomiest = chosen_[0];
        const auto room = [&](std::size_t v) {
            return missing > 0 ? beta_[v] - problem_.lo[v] : problem_.hi[v] - beta_[v];
        };
        for (const RowNumber v : chosen_)
            if (std::min(problem_.hi[v] - beta_[v], beta_[v] - problem_.lo[v]) >
                std::min(problem_.hi[roomiest] - beta_[roomiest], beta_[roomiest] - problem_.lo[roomiest]))
                roomiest = v;
        if (missing == 0 || room(roomiest) <= std::abs(missing)) return;
        const double next = beta_[roomiest] - missing;
        change[roomiest] += next - beta_[roomiest];
        beta_[roomiest] = next;
    }

    void choose(int slow) {
        const std::size_t n = problem_.size(), m = std::min(options_.working_set, n);
        chosen_.resize(n);
        std::iota(chosen_.begin(), chosen_.end(), RowNumber{0});
        if (m == n && !options_.gradual) next_ = n;
        if (m == n && next_ == n) return;
        if (next_ < n) {
            const std::size_t most = options_.gradual ? std::max<std::size_t>(next_, 64) : first_pass;
            return choose_at_random(std::min({m, first_pass, most}));
        }
        // Those between their bounds come first, if they leave room for others.
        std::size_t inside = 0;
        for (std::size_t v = 0; v < n; ++v) inside += beta_[v] > problem_.lo[v] && beta_[v] < problem_.hi[v];
        rank(n, inside < m / 2 && slow < 3, [&](std::size_t v) {
            const RowNumber i = problem_.row[v];
            return Candidate{problem_.t[v] - f_[i] - b_, problem_.hi[v] - beta_[v], beta_[v] - problem_.lo[v],
                             gram_.diagonal(i)};
        });
        take_best(m, chosen_);
    }

    /// The next ones of the first pass over all.
    void choose_at_random(std::size_t count) {
        if (next_ == 0) {
            order_ = chosen_;
            shuffle(order_, random_);
        }
        const std::size_t last = std::min(next_ + count, order_.size());
        chosen_.assign(order_.begin() + static_cast<std::ptrdiff_t>(next_),
                       order_.begin() + static_cast<std::ptrdiff_t>(last));
        std::sort(chosen_.begin(), chosen_.end());
        next_ = last;
    }

    /// A variable as far as the choice goes: its slope, how far it may grow and shrink, its curvature.
    struct Candidate {
        double slope, up, down, curvature;
    };

    /// For each variable, how much is to be said for letting it grow, and for letting it shrink: what it
    /// gains by that, or less than nothing, by how far it is from gaining.
    template <class Of>
    void rank(std::size_t n, bool inside_first, Of of) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        growing_.resize(n);
        shrinking_.resize(n);
        for (std::size_t k = 0; k < n; ++k) {
            const Candidate one = of(k);
            const double room = one.slope > 0 ? one.up : one.down, size = std::abs(one.slope);
            const double step = std::min(size / std::max(one.curvature, 1e-12), room);
            const double gain = step * (size - 0.5 * one.curvature * step);
            const bool first = inside_first && one.up > 0 && one.down > 0;
            const double key = first ? infinity : gain;
            growing_[k] = one.up > 0 ? (first || one.slope > 0 ? key : -size) : -infinity;
            shrinking_[k] = one.down > 0 ? (first || one.slope < 0 ? key : -size) : -infinity;
        }
    }

    /// The best ones, and hardly more than gain: with an intercept, whose steps are pairs, half of them to
    /// grow and half to shrink.
    void take_best(std::size_t most, std::vector<RowNumber>& out) {
        const std::size_t n = growing_.size();
        if (!problem_.free_intercept)
            for (std::size_t k = 0; k < n; ++k) growing_[k] = std::max(growing_[k], shrinking_[k]);
        taken_.assign(n, false);
        std::vector<RowNumber> order(n);
        const auto take = [&](const std::vector<double>& keys, std::size_t count) {
            std::iota(order.begin(), order.end(), RowNumber{0});
            const auto gaining = std::count_if(keys.begin(), keys.end(), [](double key) { return key > 0; });
            count = std::min({count, n, static_cast<std::size_t>(gaining) + 8});
            if (count < n)
                std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                                 order.end(), [&](RowNumber a, RowNumber c) { return keys[a] > keys[c]; });
            for (std::size_t k = 0; k < count; ++k)
                if (std::isfinite(keys[order[k]]) || keys[order[k]] > 0) taken_[order[k]] = true;
        };
        take(growing_, problem_.free_intercept ? most / 2 : most);
        if (problem_.free_intercept) {
            for (std::size_t k = 0; k < n; ++k)  // no pair of one variable
                if (taken_[k] && shrinking_[k] < 0) shrinking_[k] = -std::numeric_limits<double>::infinity();
            take(shrinking_, most / 2);
        }
        out.clear();
        for (std::size_t k = 0; k < n; ++k)
            if (taken_[k]) out.push_back(static_cast<RowNumber>(k));
    }

    /// The intercept, less the shift, that makes the local gap smallest.
    double local_intercept() const {
        if (!problem_.free_intercept) return 0;
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (std::size_t k = 0; k < local_.size(); ++k) {
            low = std::min<double>(low, local_.u[k]);
            high = std::max<double>(high, local_.u[k]);
        }
        for (int step = 0; step < 40 && high - low > 1e-12 * (std::abs(low) + std::abs(high)); ++step) {
            const Real middle = static_cast<Real>((low + high) / 2);
            const Real *u = local_.u.data(), *up = local_.up.data(), *down = local_.down.data();
            Real slope = 0;
#pragma omp simd reduction(+ : slope)
            for (std::size_t k = 0; k < local_.size(); ++k) slope += u[k] > middle ? -up[k] : down[k];
            (slope < 0 ? low : high) = (low + high) / 2;
        }
        return (low + high) / 2;
    }

    double local_gap(double b) const {
        double sum = 0;
        for (std::size_t k = 0; k < local_.size(); ++k) {
            const double u = local_.u[k] - b;
            sum += u > 0 ? local_.up[k] * u : -local_.down[k] * u;
        }
        return sum;
    }

    void solve_chosen(double gap, double goal, int slow) {
        const bool whole = local_.size() == problem_.size();
        const double left = (options_.max_epochs - epochs()) * static_cast<double>(problem_.n_rows);
        const std::uint64_t limit =
            left > 1e18 ? UINT64_MAX : steps_ + static_cast<std::uint64_t>(std::ceil(left));
        const double before = local_gap(local_intercept());
        // As far as the rest, which does not move, makes it worth while.
        double target = whole ? 0.5 * goal : std::max(0.3 * goal, 0.1 * std::min(before, gap));
        if (goal == 0) target = 0.01 * gap;  // the first time, nothing is known of the optimum
        target = std::min(target, 0.5 * before);
        if (slow > 2) target *= 0.1;
        double least = std::numeric_limits<double>::infinity();
        for (int idle = 0; steps_ < limit && idle < 10;) {
            const double b = local_intercept(), now = local_gap(b);
            if (now <= target) return;
            idle = now < 0.9 * least ? 0 : idle + 1;  // rounding may keep it from the target
            least = std::min(least, now);
            choose_block(b);
            const std::uint64_t made = solve_block(limit - steps_);
            steps_ += made;
            if (made == 0) return;
            update_local();
            if (context_.monitor.worked(made * block_.padded())) return;
        }
    }

    /// The variables between their bounds and, by what they gain, others; together as few as the block's size
    /// allows, but all those between, as these hang together.
    void choose_block(double b) {
        std::size_t inside = 0;
        for (std::size_t k = 0; k < local_.size(); ++k) inside += local_.inside(k);
        rank(local_.size(), true, [&](std::size_t k) {
            return Candidate{local_.u[k] - b, local_.up[k], local_.down[k], local_.diagonal[k]};
        });
        // Those between count twice where both sides take them.
        const std::size_t between = problem_.free_intercept ? 2 * inside : inside;
        const std::size_t wanted =
            std::max(options_.block, between + std::max<std::size_t>(options_.block / 2, 2));
        take_best(wanted, picked_);
    }

    std::uint64_t solve_block(std::uint64_t budget) {
        const std::size_t q = picked_.size();
        if (q == local_.size()) {
            block_.resize_like(local_);
        } else {
            block_.resize(q);
            in_stretches(q, 16, q, context_.team, context_.monitor, [&](std::size_t first, std::size_t last) {
                for (std::size_t a = first; a < last; ++a) {
                    const Real* row = local_.row(picked_[a]);
                    Real* out = block_.row(a);
                    for (std::size_t c = 0; c < q; ++c) out[c] = row[picked_[c]];
                }
            });
        }
        for (std::size_t a = 0; a < q; ++a) {
            const std::size_t k = picked_[a];
            block_.beta[a] = 0;
            block_.u[a] = local_.u[k];
            block_.up[a] = local_.up[k];
            block_.down[a] = local_.down[k];
            block_.diagonal[a] = local_.diagonal[k];
        }
        const std::uint64_t enough = 20 * q, made = smo_.run(block_, 0.1, std::min(budget, enough));
        return made < enough ? made : made + newton_steps_.run(block_);
    }

    /// Slopes of all chosen ones after the block's steps.
    void update_local() {
        std::vector<double> steps;
        std::vector<const Real*> rows;
        for (std::size_t a = 0; a < picked_.size(); ++a) {
            const std::size_t k = picked_[a];
            const double step = block_.beta[a];
            if (step == 0) continue;
            local_.beta[k] += step;
            local_.up[k] = block_.up[a];
            local_.down[k] = block_.down[a];
            steps.push_back(-step);
            rows.push_back(local_.row(k));
        }
        in_stretches(local_.padded() / 64, 8, rows.size() * 64, context_.team, context_.monitor,
                     [&](std::size_t first, std::size_t last) {
                         double sums[512];
                         const std::size_t begin = first * 64, count = (last - first) * 64;
                         for (std::size_t k = 0; k < count; ++k) sums[k] = local_.u[begin + k];
                         for (std::size_t r = 0; r < rows.size(); ++r) {
                             const Real* row = rows[r] + begin;
                             const double step = steps[r];
#pragma omp simd
                             for (std::size_t k = 0; k < count; ++k) sums[k] += step * row[k];
                         }
                         for (std::size_t k = 0; k < count; ++k)
                             local_.u[begin + k] = static_cast<Real>(sums[k]);
                     });
    }

    const KernelProblem& problem_;
    Gram<Real>& gram_;
    const SmoOptions options_;
    Context& context_;
    Random random_;
    std::vector<double> beta_, f_, growing_, shrinking_;
    std::vector<bool> taken_;
    double b_ = 0;
    std::uint64_t steps_ = 0;
    std::vector<RowNumber> chosen_, picked_, order_;
    std::size_t next_ = 0;
    DenseProblem<Real> local_, block_;
    std::vector<RowNumber> local_rows_;  // whose kernel matrix is in local_
    DenseSmo<Real> smo_;
    NewtonSteps<Real> newton_steps_;
    bool in_parts_;  // whether parts are solved on their own, still
    double last_part_gap_ = std::numeric_limits<double>::infinity();
    double part_evaluations_ = 0;
};

}  // namespace

KernelSolution solve_smo(const KernelTask& task, const SmoOptions& options,
                         const std::vector<double>& start) {
    return task.with_gram([&]<class Real>(Gram<Real>& gram) {
        return Smo<Real>(task.problem, gram, options, task.context).run(start);
    });
}

std::vector<double> make_newton_steps(const double* K, std::span<const double> t, std::span<const double> lo,
                                      std::span<const double> hi, std::span<const double> beta,
                                      bool intercept, std::size_t steps, Context& context) {
    const std::size_t n = t.size();
    DenseProblem<double> p;
    p.resize(n);
    for (std::size_t i = 0; i < n; ++i) std::copy_n(K + i * n, n, p.row(i));
    for (std::size_t i = 0; i < n; ++i) {
        double slope = t[i];
        for (std::size_t j = 0; j < n; ++j) slope -= p.row(i)[j] * beta[j];
        p.set(i, beta[i], lo[i], hi[i], slope);
    }
    NewtonSteps<double>(intercept, context.team, context.monitor).run(p, steps);
    return p.beta;
}

}  // namespace pegasos
