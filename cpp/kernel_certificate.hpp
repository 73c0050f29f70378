// Bounds for kernel solvers whose coefficients need not be feasible in the dual, and the stop by examples
// held out.
//
// The primal value is that of w = sum_i beta_i phi(x_i) as it is. For the dual value each beta_i is first
// moved to its bounds, with a free intercept those of the heavier sign are shrunk until they sum to zero, and
// what is left is multiplied by the factor in [0, 1] that makes the dual largest. The responses of the moved
// point need the kernel rows of the examples that moved.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gram.hpp"
#include "kernel_problem.hpp"
#include "solution.hpp"

namespace pegasos {

struct KernelSolution {
    std::vector<double> beta;  // by variable; for solvers outside the dual, by example
    double b = 0;
    Bounds bounds{};
    double epochs = 0, seconds = 0, squared_norm = 0, evaluations = 0;
    double nu = 0, margin = 0, margin_bound = 0;  // of sbp.hpp
    std::uint64_t steps = 0, updates = 0;         // updates: changes of a coefficient, a kernel row each
    std::string reason;
    std::vector<Record> history;

    void record(Context& context) {
        history.push_back({context.monitor.seconds(), epochs, bounds.primal, bounds.dual});
        if (context.report) context.report(history.back());
    }
};

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

    /// The best dual value so far, with that of a point near beta (by example), whose responses are f.
    void take(const std::vector<double>& beta, const std::vector<double>& f) {
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
        std::vector<RowNumber> which;
        std::vector<double> steps, responses = f;
        for (std::size_t i = 0; i < near.size(); ++i)
            if (near[i] != beta[i]) {
                which.push_back(static_cast<RowNumber>(i));
                steps.push_back(near[i] - beta[i]);
            }
        gram_.add(which, steps, responses);
        Sum linear, square;
        for (std::size_t v = 0; v < problem_.size(); ++v) {
            const std::size_t i = problem_.row[v];
            if (near[i] == 0) continue;
            linear.add(problem_.t[v] * near[i]);
            square.add(near[i] * responses[i]);
        }
        const double factor =
            square.value() > 0 ? std::clamp(linear.value() / square.value(), 0.0, 1.0) : 1.0;
        dual_ = std::max(dual_, factor * linear.value() - factor * factor / 2 * square.value());
    }

private:
    const KernelProblem& problem_;
    Gram<Real>& gram_;
    double dual_ = 0;  // of beta = 0
};

/// Primal value of w = sum_i beta_i phi(x_i), beta by example, given its responses.
inline KernelBounds primal_of(const KernelProblem& problem, const std::vector<double>& beta,
                              const std::vector<double>& f, double b) {
    Sum squared_norm, loss;
    for (std::size_t i = 0; i < beta.size(); ++i)
        if (beta[i] != 0) squared_norm.add(beta[i] * f[i]);
    for (std::size_t v = 0; v < problem.size(); ++v)
        loss.add(problem.loss(v, problem.t[v] - f[problem.row[v]] - b));
    return {{squared_norm.value() / 2 + loss.value(), 0}, b, squared_norm.value()};
}

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

    /// A look at w; true when the run is over. `last`: the budget is used up. `bounds`: those of another
    /// problem, which is the one solved.
    bool check(const std::vector<double>& beta, const std::vector<double>& f, double b, double epochs,
               bool last, KernelSolution& solution, const Bounds* bounds = nullptr) {
        const bool out_of_time = context_.monitor.timed_out();
        const KernelBounds now = primal_of(problem_, beta, f, b);
        if (!bounds) certifier_.take(beta, f);
        const bool stale = is_stale(f, b);
        const bool better = held_out_.labels.empty() || misses_ == fewest_;
        if (better || solution.history.empty()) {
            solution.beta = beta;
            solution.b = b;
            solution.bounds.primal = now.bounds.primal;
            solution.squared_norm = now.squared_norm;
        }
        solution.bounds.dual = std::min(certifier_.dual(), solution.bounds.primal);
        if (bounds) solution.bounds = *bounds;
        solution.epochs = epochs;
        solution.record(context_);
        if (tol_ > 0 && solution.bounds.gap() <= tol_)
            solution.reason = "tol";
        else if (stale)
            solution.reason = "early_stopping";
        else if (out_of_time)
            solution.reason = "max_time";
        else if (last)
            solution.reason = "budget";
        if (solution.reason.empty()) return false;
        solution.evaluations = gram_.evaluations();
        solution.seconds = context_.monitor.seconds();
        return true;
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
        certifier_.take(beta, f);
    }

    bool holds_out() const { return !held_out_.labels.empty(); }

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
