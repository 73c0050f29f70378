// InteriorPoint: where a run of the steps of interior_steps.hpp starts, on which rows, and when it ends.
//
// Start near the optimum (hinge only), where another solver has been: most rows are on their side of the
// margin, and far from it. These are left out, with alpha = 0 or alpha = c and a loss that is linear in w;
// the others are few and the method starts afresh on them, which takes a third of the iterations and each a
// tenth of the time. The certificate is that of all rows. Rows that turn out to be on the other side come in,
// and if that does not end, all do.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "linear/certificate.hpp"
#include "linear/solvers/interior_steps.hpp"
#include "linear/solvers/solve.hpp"

namespace pegasos {

namespace {

class InteriorPoint : private InteriorSteps {
public:
    InteriorPoint(const Problem& problem, const InteriorPointOptions& options, Context& context)
        : InteriorSteps(problem, context), options_(options), margins_(problem.n_rows()) {}

    Solution run(const Start& start) {
        Solution solution;
        solution.bounds = {std::numeric_limits<double>::infinity(), 0};  // no dual point at all has 0
        solution.w.resize(d_);
        solution.q.resize(problem_.n_rows());
        try {
            if (!problem_.loss.regression && problem_.free_intercept && (negative_ == 0 || positive_ == 0)) {
                // The intercept alone gives every row its margin, and no alpha > 0 satisfies sum y alpha = 0.
                best_w_.back() = (positive_ > 0 ? 1 : -1) / problem_.rows.bias;
                finish(solution, "tol");
            } else if (start.q.empty() ? !run_from_sample(solution) : !run_from(start, solution)) {
                take_rows([](std::size_t) { return true; });
                begin();
                iterate(solution);
            }
        } catch (const Ended& ended) {  // what it had a certificate for stands
            if (!std::isfinite(solution.bounds.primal)) throw;
            take_back(solution);
            solution.reason = ended.reason;
        }
        solution.finish(context_, passes_, iterations_, start.t);
        return solution;
    }

private:
    static constexpr int patience = 12;       // iterations without progress
    static constexpr double near = 0.02;      // the gap at which most rows are on their side of the margin
    static constexpr double undecided = 0.5;  // from the margin: rows that may yet change sides

    /// Starts from the end of another run, by whatever solver. False where that led nowhere.
    bool run_from(const Start& start, Solution& solution) {
        best_w_ = start.w;
        best_q_ = start.q;
        for (double& q : best_q_) q = problem_.loss.clip(q);
        if (finish(solution, "start")) return true;
        if (!is_hinge()) return false;
        if (solution.bounds.gap() > near) {
            take_rows([](std::size_t) { return true; });
            begin_at(start.w);
            iterate(solution);
            return solution.reason != "precision" || solution.bounds.mostly_rounding();
        }
        return run_on_undecided(solution);
    }

    /// Starts from the weights that a tenth of the rows would have. False where that led nowhere.
    bool run_from_sample(Solution& solution) {
        constexpr std::size_t share = 10;
        const std::size_t all = problem_.n_rows();
        if (!is_hinge() || options_.tol <= 0 || all < 100'000 || all < 20 * share * d_) return false;
        Random random(0);
        take_rows([&](std::size_t) { return random.below(share) == 1; });
        if (n_ == 0) return false;
        Sum cost;
        for (const double c : rows_.c) cost.add(c);
        for (double& c : rows_.c) c *= problem_.C * problem_.total_weight / cost.value();
        begin();
        approach(1e-3);
        if (stop_) return false;
        DualPoint point;
        LinearPass(problem_, best_w_, context_)
            .make(point, [&](std::size_t first, std::size_t last, const double* z, double* q) {
                std::copy(z, z + (last - first), &margins_[first]);
                std::fill_n(q, last - first, 0.0);
            });
        passes_ += 1;
        return run_on_undecided(solution);
    }

    /// Leaves out the rows whose margins say where they belong. False where too many do not, or it led
    /// nowhere.
    bool run_on_undecided(Solution& solution) {
        std::vector<bool> open(problem_.n_rows());
        for (int round = 0; round < 4; ++round) {
            std::size_t count = 0;
            for (std::size_t i = 0; i < open.size(); ++i) {
                const double beyond = margins_[i] - 1;
                const bool right = round == 0 || (best_q_[i] > 0 ? beyond <= 0 : beyond >= 0);
                open[i] = open[i] || std::abs(beyond) < undecided || !right;
                count += open[i];
                if (!open[i]) best_q_[i] = beyond < 0;
            }
            if (static_cast<double>(count) > 0.7 * static_cast<double>(open.size())) return false;
            take_rows([&](std::size_t i) { return open[i]; });
            if (n_ == 0) return false;
            begin();
            iterate(solution);
            if (solution.reason != "precision" && solution.reason != "missed") return true;
            if (solution.bounds.mostly_rounding()) return true;  // other steps would not help
        }
        return false;
    }

    bool is_hinge() const { return problem_.loss.is<Hinge>(); }

    /// The point that finish() looked at last, pushed away from the bounds.
    void begin_at(const std::vector<double>& w) {
        constexpr double inside = 0.1;
        w_ = w;
        double gap = 0, cost = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            const double q = std::clamp(best_q_[rows_.numbers[i]], inside, 1 - inside),
                         z = margins_[rows_.numbers[i]];
            alpha_[i] = q * rows_.c[i];
            beta_[i] = (1 - q) * rows_.c[i];
            p_[i] = std::max(z - 1, 0.0);
            xi_[i] = std::max(1 - z, 0.0);
            gap += alpha_[i] * p_[i] + beta_[i] * xi_[i];
            cost += rows_.c[i];
        }
        const double mean = std::max(gap, 1e-6 * cost) / (2 * static_cast<double>(n_));
        for (std::size_t i = 0; i < n_; ++i) {
            const double least = mean / std::min(alpha_[i], beta_[i]);
            p_[i] += least;
            xi_[i] += least;
        }
    }

    /// To `tol` or as far as it gets, with a certificate.
    void iterate(Solution& solution) {
        for (int misses = 0;; ++misses) {
            const double goal = options_.goal > 0 ? std::min(options_.goal, options_.tol) : options_.tol;
            std::string reason = approach(goal, &solution);
            // Sums of the passes may promise what the certificate does not have, because of rounding.
            if (reason == "tol" && misses > 5) reason = "precision";
            if (reason == "tol" && iterations_ >= options_.max_iterations) reason = "budget";
            if (finish(solution, reason) || rows_.some_left_out) return;
            if (!make_step()) {
                finish(solution, stop_ ? "max_time" : "precision");
                return;
            }
            ++iterations_;
        }
    }

    /// Iterations until the gap of the rows taken is at most `tol`, or there is another reason to stop.
    std::string approach(double tol, Solution* solution = nullptr) {
        goal_ = tol;
        double smallest = std::numeric_limits<double>::infinity();
        for (int idle = 0;; ++iterations_) {
            if (!read_rows()) return "max_time";
            const double gap = best_.primal - best_.dual;
            idle = gap < 0.99 * smallest || best_.dual <= 0 ? 0 : idle + 1;
            smallest = std::min(smallest, gap);
            if (tol > 0 && best_.gap() <= tol) return "tol";
            if (idle > patience || gap <= 0) return "precision";
            if (iterations_ >= options_.max_iterations) return "budget";
            if (solution && !rows_.some_left_out && tell(*solution)) return "callback";
            if (!make_step()) return stop_ ? "max_time" : "precision";
        }
    }

    /// Records and tells of an iteration; whether that ends the run.
    bool tell(Solution& solution) {
        const Bounds now = best_of(solution.bounds);
        told_.lower(now);
        told_.raise(now);
        solution.record(context_, passes_, told_);
        return context_.tell(solution.history.back(),
                             [&] { return now.primal < solution.bounds.primal ? best_w_ : solution.w; });
    }

    /// Adds the certificate of the best w and alpha to the solution; false where `tol` is not met though
    /// there is nothing else to stop for.
    bool finish(Solution& solution, const std::string& reason) {
        DualPoint point;
        const auto given = [&](std::size_t first, std::size_t last, const double* z, double* q) {
            std::copy(z, z + (last - first), &margins_[first]);
            std::copy(&best_q_[first], &best_q_[first] + (last - first), q);
        };
        const Bounds found =
            LinearPass(problem_, best_w_, context_).bounds(point, given, options_.tol, context_.monitor);
        passes_ += 1;
        if (solution.bounds.lower(found)) solution.w = best_w_;
        if (solution.bounds.raise(found)) solution.q = point.q;
        const auto reached = [&] { return solution.bounds.reached(options_.tol); };
        if (options_.tol > 0 && !reached() && !solution.bounds.mostly_rounding() && reason != "tol" &&
            reason != "start") {
            // Cut short, the weights that belong to alpha may be the better ones.
            std::vector<double> other = point.u;
            if (problem_.free_intercept) other.back() = best_w_.back();
            DualPoint same;
            const Bound better =
                LinearPass(problem_, other, context_)
                    .make(same, [&](std::size_t first, std::size_t last, const double*, double* q) {
                        std::copy(&best_q_[first], &best_q_[first] + (last - first), q);
                    });
            if (solution.bounds.lower(between(better, {}))) solution.w = other;
            passes_ += 1;
        }
        take_back(solution);
        solution.record(context_, passes_, solution.bounds);
        const bool stop = context_.tell(solution.history.back(), [&] { return solution.w; });
        solution.reason = reached() ? "tol" : reason == "tol" ? "missed" : reason;
        if (!reached() && reason != "max_time" && options_.tol > 0 && solution.bounds.mostly_rounding())
            solution.reason = "precision";
        if (stop) solution.reason = "callback";
        return solution.reason != "missed" && solution.reason != "start";
    }

    /// Where the sums of the iterations promised more, by rounding, what they promised.
    void take_back(Solution& solution) {
        told_ = solution.bounds;
        for (Record& earlier : solution.history) {
            earlier.primal = std::max(earlier.primal, solution.bounds.primal);
            earlier.dual = std::min(earlier.dual, solution.bounds.dual);
        }
    }

    /// The better of these bounds and those of the iterations.
    Bounds best_of(Bounds bounds) const {
        const Bounds found{best_.primal + best_.above, best_.dual - best_.below, best_.above, best_.below};
        bounds.lower(found);
        bounds.raise(found);
        return bounds;
    }

    const InteriorPointOptions options_;
    std::vector<double> margins_;
    Bounds told_ =
        Bounds::none();  // since the last certificate; none of the iterations need be better than all
    std::uint64_t iterations_ = 0;
};

}  // namespace

Solution solve_interior_point(const Problem& problem, const InteriorPointOptions& options, const Start& start,
                              Context& context) {
    if (problem.loss.is<LogLoss>())
        throw std::invalid_argument("interior-point does not support the log loss");
    return InteriorPoint(problem, options, context).run(start);
}

}  // namespace pegasos
