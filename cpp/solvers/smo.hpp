// Sequential minimal optimisation in nested working sets (kernel_problem.hpp has the symbols).
//
// Rows of the kernel matrix are what costs. So that as few as possible are computed, and those many at a
// time:
//
// 1. Of all variables, a few thousand are chosen, and the square of the kernel matrix that belongs to them is
//    computed: those that gain most by a step of their own at the present b, and those strictly between their
//    bounds, which will have to give way. The first choice, when nothing is known, is random.
// 2. Within these, blocks of a few hundred are chosen in the same way, whose square fits the second-level
// cache,
// 3. and solved by steps of one pair or one variable (dense_smo.hpp).
// 4. When the chosen ones are solved well enough, whole rows are computed of those that changed, and the
//    responses of all examples brought up to date. The bounds are then known, for all examples.
//
// A variable that is tried and goes back to zero thus never costs a whole row, and what others call shrinking
// is the rule here: only the chosen ones are worked on between two looks at all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "dense_smo.hpp"
#include "gram.hpp"
#include "kernel_certificate.hpp"
#include "kernel_problem.hpp"
#include "random.hpp"
#include "solution.hpp"

namespace pegasos {

struct SmoOptions {
    double tol;
    double max_epochs;        // an epoch is as many steps as there are examples
    std::size_t working_set;  // variables chosen at a time
    std::size_t block;        // of those
    std::uint64_t seed;
};

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
          gains_(problem.size()),
          smo_(problem.free_intercept) {}

    KernelSolution run(const std::vector<double>& start) {
        KernelSolution solution;
        if (!start.empty()) begin_at(start);
        double last_gap = std::numeric_limits<double>::infinity();
        int stuck = 0;
        for (;;) {
            const KernelBounds now = bounds_of(problem_, beta_, f_);
            b_ = now.b;
            const double gap = now.bounds.primal - now.bounds.dual;
            solution.bounds = now.bounds;
            solution.epochs = epochs();
            solution.record(context_);
            solution.b = now.b;
            solution.squared_norm = now.squared_norm;
            stuck = gap < 0.99 * last_gap ? 0 : stuck + 1;
            last_gap = std::min(gap, last_gap);
            if (options_.tol > 0 && now.bounds.gap() <= options_.tol)
                solution.reason = "tol";
            else if (context_.monitor.timed_out())
                solution.reason = "max_time";
            else if (epochs() >= options_.max_epochs)
                solution.reason = "budget";
            else if (stuck > 200 || gap <= 1e-15 * std::abs(now.bounds.primal))
                solution.reason = "precision";
            if (!solution.reason.empty()) break;
            const double goal = std::max(options_.tol, 1e-15) * std::max(now.bounds.dual, 0.0);
            if (!improve(gap, goal, stuck)) {
                solution.reason = "precision";
                break;
            }
        }
        solution.beta = beta_;
        solution.steps = steps_;
        solution.updates = problem_.free_intercept ? 2 * steps_ : steps_;
        solution.evaluations = gram_.evaluations();
        solution.seconds = context_.monitor.seconds();
        return solution;
    }

private:
    double epochs() const { return static_cast<double>(steps_) / static_cast<double>(problem_.n_rows); }

    void begin_at(const std::vector<double>& start) {
        std::vector<RowNumber> which;
        std::vector<double> steps;
        collect(
            [&](std::size_t v) { return beta_[v] = std::clamp(start[v], problem_.lo[v], problem_.hi[v]); },
            which, steps);
        gram_.add(which, steps, f_);
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

    /// What a step of the variable alone would gain, if the intercept stayed.
    static double gain(double beta, double lo, double hi, double slope, double curvature) {
        const double step = std::clamp(beta + slope / std::max(curvature, 1e-12), lo, hi) - beta;
        return step * (slope - 0.5 * curvature * step);
    }

    /// Chooses, solves, and brings the responses up to date. False where nothing moved.
    bool improve(double gap, double goal, int stuck) {
        choose(stuck);
        const std::size_t m = chosen_.size();
        std::vector<RowNumber> rows(m);
        for (std::size_t k = 0; k < m; ++k) rows[k] = problem_.row[chosen_[k]];
        local_.resize(m);
        gram_.square(rows, local_.matrix(), local_.padded());
        for (std::size_t k = 0; k < m; ++k) {
            const std::size_t v = chosen_[k];
            local_.set(k, beta_[v], problem_.lo[v], problem_.hi[v], problem_.t[v] - f_[problem_.row[v]]);
        }
        solve_chosen(gap, goal, stuck);

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
        collect([&](std::size_t v) { return change[v]; }, which, steps);
        if (which.empty()) return false;
        gram_.add(which, steps, f_);
        return true;
    }

    void choose(int stuck) {
        const std::size_t n = problem_.size(), m = std::min(options_.working_set, n);
        chosen_.resize(n);
        std::iota(chosen_.begin(), chosen_.end(), RowNumber{0});
        if (m == n) return;
        if (next_ < n) {
            if (next_ == 0) {
                order_.resize(n);
                std::iota(order_.begin(), order_.end(), RowNumber{0});
                shuffle(order_, random_);
            }
            constexpr std::size_t first = 1024;
            chosen_.clear();
            for (; next_ < n && chosen_.size() < first; ++next_) {
                const std::size_t v = order_[next_];
                chosen_.push_back(static_cast<RowNumber>(v));
            }
            std::sort(chosen_.begin(), chosen_.end());
            return;
        }
        double largest = 0;
        for (std::size_t v = 0; v < n; ++v) {
            const RowNumber i = problem_.row[v];
            gains_[v] =
                gain(beta_[v], problem_.lo[v], problem_.hi[v], problem_.t[v] - f_[i] - b_, gram_.diagonal(i));
            largest = std::max(largest, gains_[v]);
        }
        // Those between their bounds come first, as long as they leave room for others.
        std::size_t inside = 0;
        for (std::size_t v = 0; v < n; ++v) inside += beta_[v] > problem_.lo[v] && beta_[v] < problem_.hi[v];
        const double bonus = inside < m / 2 ? 2 * largest : stuck > 2 ? 0 : 0.01 * largest;
        for (std::size_t v = 0; v < n; ++v)
            if (beta_[v] > problem_.lo[v] && beta_[v] < problem_.hi[v]) gains_[v] += bonus;
        std::nth_element(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(m - 1), chosen_.end(),
                         [&](RowNumber a, RowNumber c) { return gains_[a] > gains_[c]; });
        chosen_.resize(m);
        std::erase_if(chosen_, [&](RowNumber v) { return gains_[v] <= 0; });
        if (problem_.free_intercept) add_extremes();
        std::sort(chosen_.begin(), chosen_.end());
    }

    /// The pair that violates most: without it, nothing may be gained by pairs of the chosen ones.
    void add_extremes() {
        std::size_t up = problem_.size(), low = problem_.size();
        const auto slope = [&](std::size_t v) { return problem_.t[v] - f_[problem_.row[v]]; };
        for (std::size_t v = 0; v < problem_.size(); ++v) {
            if (beta_[v] < problem_.hi[v] && (up == problem_.size() || slope(v) > slope(up))) up = v;
            if (beta_[v] > problem_.lo[v] && (low == problem_.size() || slope(v) < slope(low))) low = v;
        }
        for (const std::size_t v : {up, low})
            if (v < problem_.size() &&
                std::find(chosen_.begin(), chosen_.end(), static_cast<RowNumber>(v)) == chosen_.end())
                chosen_.push_back(static_cast<RowNumber>(v));
    }

    /// The intercept that makes the local gap smallest.
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

    void solve_chosen(double gap, double goal, int stuck) {
        const bool whole = local_.size() == problem_.size();
        const double left = (options_.max_epochs - epochs()) * static_cast<double>(problem_.n_rows);
        const std::uint64_t limit =
            left > 1e18 ? UINT64_MAX : steps_ + static_cast<std::uint64_t>(std::ceil(left));
        const double before = local_gap(local_intercept());
        // As far as the rest, which does not move, makes it worth while.
        double target = whole ? 0.5 * goal : std::max(0.3 * goal, 0.1 * std::min(before, gap));
        if (goal == 0) target = 0.01 * gap;  // the first time, nothing is known of the optimum
        if (stuck > 2) target *= 0.1;
        while (steps_ < limit) {
            const double b = local_intercept();
            if (local_gap(b) <= target) return;
            choose_block(b);
            const std::uint64_t made = solve_block(limit - steps_);
            steps_ += made;
            if (made == 0 || context_.monitor.worked(made * block_.padded())) return;
            update_local();
        }
    }

    /// The variables between their bounds and, by what they gain, others; together as few as the block's size
    /// allows, but all those between, as these hang together.
    void choose_block(double b) {
        const std::size_t m = local_.size();
        local_gains_.resize(m);
        picked_.resize(m);
        std::iota(picked_.begin(), picked_.end(), RowNumber{0});
        std::size_t top = m, bottom = m, inside = 0, violating = 0;
        for (std::size_t k = 0; k < m; ++k) {
            const double u = local_.u[k] - b, step = u > 0 ? local_.up[k] : -local_.down[k];
            const double curvature = std::max<double>(local_.diagonal[k], 1e-12);
            const double taken = std::abs(u) < std::abs(step) * curvature ? u / curvature : step;
            local_gains_[k] = taken * (u - 0.5 * curvature * taken);
            if (local_.inside(k)) {
                ++inside;
                local_gains_[k] = std::numeric_limits<double>::max();
            }
            violating += local_gains_[k] > 0;
            if (local_.up[k] > 0 && (top == m || local_.u[k] > local_.u[top])) top = k;
            if (local_.down[k] > 0 && (bottom == m || local_.u[k] < local_.u[bottom])) bottom = k;
        }
        if (problem_.free_intercept)
            for (const std::size_t k : {top, bottom})
                if (k < m) local_gains_[k] = std::numeric_limits<double>::infinity();
        const std::size_t q =
            std::min({m, std::max(options_.block, inside + options_.block / 2), violating + 2});
        std::nth_element(picked_.begin(), picked_.begin() + static_cast<std::ptrdiff_t>(q - 1), picked_.end(),
                         [&](RowNumber a, RowNumber c) { return local_gains_[a] > local_gains_[c]; });
        picked_.resize(q);
        std::sort(picked_.begin(), picked_.end());
    }

    std::uint64_t solve_block(std::uint64_t budget) {
        const std::size_t q = picked_.size();
        block_.resize(q);
        in_stretches(q, 16, q, context_.team, context_.monitor, [&](std::size_t first, std::size_t last) {
            for (std::size_t a = first; a < last; ++a) {
                const Real* row = local_.row(picked_[a]);
                Real* out = block_.row(a);
                for (std::size_t c = 0; c < q; ++c) out[c] = row[picked_[c]];
            }
        });
        for (std::size_t a = 0; a < q; ++a) {
            const std::size_t k = picked_[a];
            block_.beta[a] = 0;
            block_.u[a] = local_.u[k];
            block_.up[a] = local_.up[k];
            block_.down[a] = local_.down[k];
            block_.diagonal[a] = local_.diagonal[k];
        }
        return smo_.run(block_, 0.1, std::min<std::uint64_t>(budget, 20 * q));
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
    std::vector<double> beta_, f_, gains_, local_gains_;
    double b_ = 0;
    std::uint64_t steps_ = 0;
    std::vector<RowNumber> chosen_, picked_, order_;
    std::size_t next_ = 0;
    DenseProblem<Real> local_, block_;
    DenseSmo<Real> smo_;
};

}  // namespace pegasos
