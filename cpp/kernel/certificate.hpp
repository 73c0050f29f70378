// Bounds for kernel solvers whose coefficients need not be feasible in the dual, and the stop by examples
// held out.
//
// The primal value is that of w = sum_i beta_i phi(x_i) as it is. For the dual value each beta_i is first
// moved to its bounds, with a free intercept those of the heavier sign are shrunk until they sum to zero, and
// what is left is multiplied by the factor in [0, 1] that makes the dual largest. The responses of the moved
// point need the kernel rows of the examples that moved.
//
// Responses kept over a fit are those of the kernel matrix that it works with, and are off by what that is
// off. Bounds allow for as much as the largest error of a value may do (`Gram::error_of`). Where that is too
// much for the certificate, `judge` computes anew what it rests on (exact_sums.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/solution.hpp"
#include "kernel/exact_sums.hpp"
#include "kernel/gram.hpp"
#include "kernel/problem.hpp"

namespace pegasos {

struct KernelSolution {
    std::vector<double> beta;       // by variable; for solvers outside the dual, by example
    std::vector<double> dual_beta;  // the point of the dual value, where it is another; by variable
    std::vector<double> responses;  // to beta, by example,
    double error = 0;               // by which they may be off
    double b = 0;
    Bounds bounds{};
    double epochs = 0, seconds = 0, squared_norm = 0, evaluations = 0;
    double nu = 0;                         // of margin.hpp
    std::uint64_t steps = 0, updates = 0;  // updates: changes of a coefficient, a kernel row each
    std::string reason;
    std::vector<Record> history;

    void state(State& state) {
        state(beta, dual_beta, responses, error, b, bounds, epochs, seconds, squared_norm, evaluations, nu,
              steps, updates, reason, history);
    }

    /// Adds a check to the history, and tells of it; true where that ends the run. Weights are told as beta
    /// and, last, b.
    bool record(Context& context, const Bounds& found) {
        history.push_back({context.monitor.seconds(), epochs, found.primal, found.dual});
        return context.tell(history.back(), [this] {
            std::vector<double> all = beta;
            all.push_back(b);
            return all;
        });
    }
};

/// Bounds of the machine beta, whose responses f are off by at most `error`, from responses that are computed
/// anew where they matter: of the support vectors, and of examples that may have a loss. `b`: the intercept;
/// the best one where none is given. `dual_only`: no examples beside the support vectors, and no primal
/// value.
KernelBounds judge(const KernelProblem& problem, ExactSums& exact, const std::vector<double>& beta,
                   const std::vector<double>& f, double error, const double* b, bool dual_only,
                   Context& context);

/// Bounds from responses that are all off by at most `error`, at an intercept.
KernelBounds bounds_at(const KernelProblem& problem, const std::vector<double>& beta,
                       const std::vector<double>& f, double error, double b);

/// The examples beyond the variables: their labels, and for how many epochs their error may fail to fall.
struct HoldOut {
    std::vector<double> labels;
    std::size_t patience = 0;
};

template <class Real>
class KernelCertifier {
public:
    KernelCertifier(const KernelProblem& problem, Gram<Real>& gram) : problem_(problem), gram_(gram) {}

    double dual() const { return dual_; }
    double below() const { return below_; }
    /// The point it belongs to, by example; empty at zero.
    const std::vector<double>& point() const { return point_; }

    /// The best dual value so far, with that of a point near beta (by example), whose responses are f, off by
    /// at most `error`.
    void take(const std::vector<double>& beta, const std::vector<double>& f, double error) {
        std::vector<double> near(problem_.n_rows);
        double sums[2] = {0, 0};
        for (std::size_t v = 0; v < problem_.size(); ++v) {
            const std::size_t i = problem_.row[v];
            near[i] = std::clamp(beta[i], problem_.lo[v], problem_.hi[v]);
            sums[near[i] > 0] += std::abs(near[i]);
        }
        if (problem_.free_intercept)
            for (double& own : near)
                if (own != 0) own *= std::min(1.0, sums[own < 0] / sums[own > 0]);
        settle(problem_, near);
        std::vector<RowNumber> which;
        std::vector<double> steps, responses = f;
        for (std::size_t i = 0; i < near.size(); ++i)
            if (near[i] != beta[i]) {
                which.push_back(static_cast<RowNumber>(i));
                steps.push_back(near[i] - beta[i]);
            }
        gram_.add(which, steps, responses);
        double moved = 0;
        for (const double step : steps) moved += std::abs(step);
        error += moved * gram_.source().error() + gram_.drift();
        Sum linear, square;
        double size = 0;
        for (std::size_t v = 0; v < problem_.size(); ++v) {
            const std::size_t i = problem_.row[v];
            if (near[i] == 0) continue;
            linear.add(problem_.t[v] * near[i]);
            square.add(near[i] * responses[i]);
            size += std::abs(near[i]);
        }
        const double factor =
            square.value() > 0 ? std::clamp(linear.value() / square.value(), 0.0, 1.0) : 1.0;
        const double below = factor * (factor / 2 * size * error +
                                       0x1p-50 * (std::abs(linear.value()) + std::abs(square.value())));
        const double dual = factor * linear.value() - factor * factor / 2 * square.value() - below;
        if (!(dual > dual_)) return;
        dual_ = dual;
        below_ = below;
        for (double& own : near) own *= factor;
        settle(problem_, near);
        point_ = std::move(near);
    }

    void state(State& state) { state(dual_, below_, point_); }

private:
    const KernelProblem& problem_;
    Gram<Real>& gram_;
    double dual_ = 0, below_ = 0;  // of beta = 0
    std::vector<double> point_;
};

/// What a solver of the dual found so far: the machine of the lowest primal value. The dual value only grows,
/// but for rounding, so that its point is the last one. A closer look at these follows, which leaves most
/// rounding out. For a run whose time is up there is none: it ends with the best bounds that it had, and the
/// points that they are of.
template <class Real>
class BestOfDual {
public:
    BestOfDual(const KernelProblem& problem, const Gram<Real>& gram) : problem_(problem), gram_(gram) {}

    /// Bounds of beta, whose responses are f. Those so far are recorded, with their allowance for rounding.
    KernelBounds look(const std::vector<double>& beta, const std::vector<double>& f, KernelSolution& solution,
                      Context& context) {
        const KernelBounds now = bounds_at(beta, f, error_of(beta));
        if (solution.beta.empty() || now.plain.primal <= lowest_) {  // the first may be no number
            lowest_ = std::min(lowest_, now.plain.primal);
            solution.beta = beta;
            solution.responses = f;
            solution.squared_norm = now.squared_norm;
            solution.b = now.b;
        }
        last_beta_ = beta;
        last_responses_ = f;
        // Zero is no machine: what is better but for rounding is of more use.
        if (now.bounds.primal < best_.primal && now.squared_norm > 0)
            lowest_bound_ = {beta, f, error_of(beta), now.squared_norm};
        if (now.bounds.dual > best_.dual) highest_bound_ = {beta, f, error_of(beta), now.squared_norm};
        best_.primal = std::min(best_.primal, now.bounds.primal);
        best_.dual = std::max(best_.dual, now.bounds.dual);
        if (solution.record(context, best_)) solution.reason = "callback";
        return now;
    }

    /// Makes the variables sum to zero exactly, where they should, and finds the bounds with that, of what
    /// the last look was at.
    void finish(KernelSolution& solution) {
        if (solution.beta != last_beta_) {
            solution.dual_beta = last_beta_;
            solution.bounds = settle_at(solution.dual_beta, last_responses_, error_of(last_beta_), solution);
        }
        const Bounds own = settle_at(solution.beta, solution.responses, error_of(solution.beta), solution);
        if (solution.dual_beta.empty()) solution.bounds = own;
        solution.bounds.primal = own.primal;
        solution.bounds.above = own.above;
        if (solution.reason == "max_time" || solution.reason == "interrupt") take_best_bounds(solution);
        if (!solution.history.empty()) {
            solution.history.back().primal = solution.bounds.primal;
            solution.history.back().dual = solution.bounds.dual;
        }
    }

    void state(State& state) {
        state(last_beta_, last_responses_, lowest_, best_, lowest_bound_, highest_bound_);
    }

private:
    /// A point of a look, whose responses were off by at most `error` then.
    struct Looked {
        std::vector<double> beta, responses;
        double error = 0, squared_norm = 0;

        void state(State& state) { state(beta, responses, error, squared_norm); }
    };

    void take_best_bounds(KernelSolution& solution) {
        KernelSolution other;
        if (!highest_bound_.beta.empty()) {
            std::vector<double>& beta = highest_bound_.beta;
            const Bounds found = settle_at(beta, highest_bound_.responses, highest_bound_.error, other);
            if (found.dual > solution.bounds.dual) {
                solution.dual_beta = std::move(beta);
                solution.bounds.dual = found.dual;
                solution.bounds.below = found.below;
            }
        }
        if (lowest_bound_.beta.empty()) return;
        std::vector<double>& beta = lowest_bound_.beta;
        const Bounds found = settle_at(beta, lowest_bound_.responses, lowest_bound_.error, other);
        if (!(found.primal < solution.bounds.primal)) return;
        if (solution.dual_beta.empty()) solution.dual_beta = solution.beta;
        solution.beta = std::move(beta);
        solution.responses = std::move(lowest_bound_.responses);
        solution.squared_norm = lowest_bound_.squared_norm;
        solution.error = other.error;
        solution.b = other.b;
        solution.bounds.primal = found.primal;
        solution.bounds.above = found.above;
    }

    double error_of(const std::vector<double>& beta) const {
        double size = 0;
        for (const double own : beta) size += std::abs(own);
        return gram_.error_of(size);
    }
    KernelBounds bounds_at(const std::vector<double>& beta, const std::vector<double>& f,
                           double error) const {
        return bounds_of(problem_, beta, f, best_intercept_of(problem_, f), gram_.source().largest(),
                         [&](std::size_t) { return error; });
    }
    Bounds settle_at(std::vector<double>& beta, const std::vector<double>& f, double error,
                     KernelSolution& solution) const {
        const double moved = settle(problem_, beta);
        solution.error = error + moved * gram_.source().largest();
        const KernelBounds found = bounds_at(beta, f, solution.error);
        solution.b = found.b;
        return found.bounds;
    }

    const KernelProblem& problem_;
    const Gram<Real>& gram_;
    std::vector<double> last_beta_, last_responses_;
    double lowest_ = std::numeric_limits<double>::infinity();
    Bounds best_{std::numeric_limits<double>::infinity(), 0};
    Looked lowest_bound_, highest_bound_;
};

/// Checks, records and ends the runs of solvers that go by epochs.
template <class Real>
class KernelChecks {
public:
    KernelChecks(const KernelProblem& problem, Gram<Real>& gram, double tol, const HoldOut& held_out,
                 Context& context)
        : problem_(problem),
          gram_(gram),
          certifier_(problem, gram),
          tol_(tol),
          held_out_(held_out),
          context_(context) {}

    /// A look at w, whose responses are off by at most `error`; true when the run is over. `last`: the budget
    /// is used up. `margins`: where it is the margin that is made large, an upper bound on it, and that of w.
    /// The solution is the best so far: of the lowest primal value or the largest margin, unless `named`, or
    /// where examples are held out of the fewest errors.
    bool check(const std::vector<double>& beta, const std::vector<double>& f, double error, double b,
               double epochs, bool last, bool named, KernelSolution& solution,
               const Bounds* margins = nullptr) {
        const bool out_of_time = context_.monitor.timed_out();
        const KernelBounds now =
            bounds_of(problem_, beta, f, b, gram_.source().largest(), [&](std::size_t) { return error; });
        if (!margins) certifier_.take(beta, f, error);
        const bool stale = is_stale(f, b), first = solution.history.empty();
        const bool best = named || (margins ? margins->dual >= solution.bounds.dual
                                            : now.bounds.primal <= solution.bounds.primal);
        const bool better = held_out_.labels.empty() ? best : misses_ == fewest_;
        // One bound is that of the machine, the other one of the problem.
        Bounds found = solution.bounds;
        if (better || first) {
            solution.beta = beta;
            solution.responses = f;
            solution.error = error;
            solution.b = b;
            solution.squared_norm = now.squared_norm;
            found = margins ? *margins : now.bounds;
        }
        if (margins) {
            found.primal = margins->primal;
            found.above = margins->above;
        } else {
            found.dual = certifier_.dual();
            found.below = certifier_.below();
        }
        solution.bounds = found;
        solution.epochs = epochs;
        const bool stop = solution.record(context_, solution.bounds);
        // Without rounding, which the end of the fit sees to, except that of margins.
        const double raw = relative_gap(found.primal - found.above, found.dual + found.below);
        const char* why = margins ? found.reason(tol_, nullptr) : tol_ > 0 && raw <= tol_ ? "tol" : nullptr;
        if (stop)
            solution.reason = "callback";
        else if (why)
            solution.reason = why;
        else if (stale)
            solution.reason = "early_stopping";
        else if (out_of_time)
            solution.reason = "max_time";
        else if (last)
            solution.reason = "budget";
        return !solution.reason.empty();
    }

    /// The dual point of the solution, and what the run took.
    void finish(KernelSolution& solution) const {
        solution.dual_beta = certifier_.point();
        if (solution.dual_beta.empty()) solution.dual_beta.resize(problem_.n_rows);
        solution.evaluations = gram_.evaluations();
        solution.seconds = context_.monitor.seconds();
    }

    /// Another dual point, whose responses are not known.
    void offer(const std::vector<double>& beta) {
        std::vector<RowNumber> which;
        std::vector<double> steps, f(beta.size());
        for (std::size_t i = 0; i < beta.size(); ++i)
            if (beta[i] != 0) {
                which.push_back(static_cast<RowNumber>(i));
                steps.push_back(beta[i]);
            }
        gram_.add(which, steps, f);
        double size = 0;
        for (const double step : steps) size += std::abs(step);
        certifier_.take(beta, f, gram_.error_of(size));
    }

    bool holds_out() const { return !held_out_.labels.empty(); }

    void state(State& state) { state(certifier_, misses_, fewest_, stale_); }

private:
    bool is_stale(const std::vector<double>& f, double b) {
        if (held_out_.labels.empty()) return false;
        const std::size_t first = f.size() - held_out_.labels.size();
        misses_ = 0;
        for (std::size_t k = 0; k < held_out_.labels.size(); ++k)
            misses_ += held_out_.labels[k] * (f[first + k] + b) <= 0;
        stale_ = misses_ < fewest_ ? 0 : stale_ + 1;
        fewest_ = std::min(fewest_, misses_);
        return stale_ >= held_out_.patience;
    }

    const KernelProblem& problem_;
    Gram<Real>& gram_;
    KernelCertifier<Real> certifier_;
    const double tol_;
    const HoldOut& held_out_;
    Context& context_;
    std::size_t misses_ = 0, fewest_ = std::numeric_limits<std::size_t>::max(), stale_ = 0;
};

}  // namespace pegasos
