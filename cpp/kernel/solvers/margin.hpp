// What solvers of the slack-constrained problem (S4 section 2) share: w and the mean of its iterates, the nu
// that belongs to a C, checks and bounds. The problem is
//
//     maximise over ||w|| <= 1 (and b)  f(w) = max gamma with sum_i s_i max(0, gamma - y_i (<w, phi_i> + b))
//     <= nu sum(s),
//
// whose value at w is a water level (water_level.hpp). The mean w_bar of the iterates, divided by its own
// level, is the machine.
//
// Bounds, for a given nu: any distribution p has f* <= ||sum_i p_i y_i phi_i|| + nu sum(s) max_i p_i / s_i,
// with an intercept provided that sum_i p_i y_i = 0. Before the first check p is in proportion to the
// weights, with an intercept those of each class, and R bounds the norm; then to the coefficients of w_bar,
// which with an intercept make such a p once examples of both classes were drawn. A machine w, b has the
// margin min(1 / ||w||, nu sum(s) / sum_i s_i loss_i): so much times w is in the unit ball, with the slack
// allowed. The machine kept is the one of the largest margin of all checks, as other solvers keep the one of
// the lowest primal value: its margin is the lower bound, which then never falls.
//
// For a given C: with w_bar fixed and c_i its responses, w = w_bar / gamma minimises the regularised problem
// along its ray when C gamma sum_{c_i < gamma} s_i c_i = 1, which the level of just one nu satisfies. nu is
// bisected for it at every check, and the steps go on with that; the mean is of the iterates since the last
// check but one. The bounds are those of the regularised problem. A solver has a dual point of its own to
// offer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernel/certificate.hpp"
#include "kernel/solvers/solve.hpp"
#include "kernel/water_level.hpp"

namespace pegasos {

template <class Real>
class MarginAscent {
public:
    MarginAscent(const std::string& name, const KernelTask& task, const Labelled& examples, Gram<Real>& gram,
                 const MarginOptions& options, const HoldOut& held_out)
        : labels(examples.labels),
          weights(examples.weights),
          n(examples.labels.size()),
          total(std::accumulate(weights.begin(), weights.end(), 0.0)),
          radius(largest_norm(gram, examples.labels.size())),
          gram_(gram),
          problem_(task.problem),
          options_(options),
          context_(task.context),
          checks_(task.problem, gram, options.tol, held_out, task.context),
          nu_(options.nu < 0 ? 0.1 * radius : options.nu),
          c_(gram.size()),
          g_(gram.size()),
          earlier_c_(gram.size()),
          earlier_g_(gram.size()),
          sum_c_(gram.size()),
          sum_g_(gram.size()),
          last_c_(gram.size()),
          last_g_(gram.size()) {
        double sums[2] = {0, 0};
        for (std::size_t i = 0; i < n; ++i) sums[labels[i] > 0] += weights[i];
        if (free_intercept() && !(sums[0] > 0 && sums[1] > 0))
            throw std::invalid_argument(
                name +
                " finds no intercept where all examples with a weight are of one class; use "
                "fit_intercept=False, or "
                "solver='smo'");
        density_ = 1 / (free_intercept() ? 2 * std::min(sums[0], sums[1]) : total);
    }

    const std::vector<double>&labels, &weights;
    const std::size_t n;
    const double total;
    const double radius;  // the largest norm of an example

    bool free_intercept() const { return problem_.free_intercept; }
    bool finds_nu() const { return options_.nu < 0; }
    double nu() const { return nu_; }
    double C() const { return options_.C; }
    /// The number of the step that is being made.
    std::uint64_t t() const { return t_; }
    /// w = scale sum_j c_j phi_j, and g are the responses to c.
    double scale() const { return scale_; }
    const double* g() const { return g_.data(); }

    /// Makes steps until something ends them. `steps` has step(), which changes w by `add` and ends with
    /// `finish_step`; offer_dual(gamma, squared norm), what it knows of the dual of the problem with C at a
    /// check; scale_moved(), after which c is another multiple of w; and a state.
    template <class Steps>
    KernelSolution run(Steps& steps) {
        KernelSolution solution;
        solution.bounds = Bounds::none();
        if (!finds_nu()) lower_bound(1, radius * radius, gram_.source().error(), density_, solution.bounds);
        std::uint64_t next_check = std::min<std::uint64_t>(n, finds_nu() ? 64 : n);
        const auto state = [&](State& state) {
            state(solution, next_check);
            pass_state(state);
            steps.state(state);
            state(gram_);
        };
        context_.resume(state);
        until_ended(solution, [&] {
            for (bool over = false; !over;) {
                context_.offer(state);
                ++t_;
                steps.step();
                if (scale_ < 1e-3) settle(steps);
                const double epochs = static_cast<double>(t_) / static_cast<double>(n);
                context_.monitor.at_epoch(epochs);
                const bool last = t_ >= options_.max_steps, late = context_.monitor.worked(n);
                if (t_ < next_check && !last && !late) continue;
                while (next_check <= t_)
                    next_check = checks_.holds_out() && t_ >= n ? next_check + n : 2 * next_check;
                over = check(last, steps, solution) || late;
            }
        });
        checks_.finish(solution);
        solution.steps = solution.updates = t_;
        return solution;
    }

    /// c_j += step.
    void add(RowNumber j, double step) {
        const Real* row = gram_.row(j);
        const double missing = mass_ * step;
        c_[j] += step;
        earlier_c_[j] += missing;
        double* __restrict g = g_.data(), * __restrict earlier = earlier_g_.data();
        const std::size_t size = g_.size();
#pragma omp simd
        for (std::size_t i = 0; i < size; ++i) {
            const double own = static_cast<double>(row[i]);
            g[i] += step * own;
            earlier[i] += missing * own;
        }
    }

    /// The iterate has this scale.
    void finish_step(double scale) {
        scale_ = scale;
        mass_ += scale_;
        ++iterates_;
    }

    /// A point of the dual of the problem with C.
    void offer(const std::vector<double>& beta) { checks_.offer(beta); }

private:
    static double largest_norm(const Gram<Real>& gram, std::size_t n) {
        double largest = 0;
        for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, gram.diagonal(i));
        return largest > 0 ? std::sqrt(largest) : 1;
    }

    /// Between two steps.
    void pass_state(State& state) {
        state(checks_, nu_, scale_, mass_, rounded_, last_rounded_, t_, iterates_, last_iterates_);
        for (std::vector<double>* own :
             {&c_, &g_, &earlier_c_, &earlier_g_, &sum_c_, &sum_g_, &last_c_, &last_g_})
            state.array(own->data(), own->size());
    }

    // The sum of the iterates scale_t c_t is sum + mass c - earlier: a change of c was missing from those
    // before it. As the scale falls, the last two grow and cancel, so they are settled now and then.
    template <class Steps>
    void settle(Steps& steps) {
        double sums = 0;
        for (std::size_t i = 0; i < c_.size(); ++i) sums += mass_ * std::abs(c_[i]) + std::abs(earlier_c_[i]);
        rounded_ += 8 * (static_cast<double>(t_) + 64) * unit * sums * gram_.source().largest();
        for (std::size_t i = 0; i < g_.size(); ++i) {
            sum_c_[i] += mass_ * c_[i] - earlier_c_[i];
            sum_g_[i] += mass_ * g_[i] - earlier_g_[i];
            earlier_c_[i] = earlier_g_[i] = 0;
            c_[i] *= scale_;
            g_[i] *= scale_;
        }
        mass_ = 0;
        const double factor = std::exchange(scale_, 1.0);
        steps.scale_moved(factor);
    }

    template <class Steps>
    bool check(bool last, Steps& steps, KernelSolution& solution) {
        settle(steps);
        const double count = static_cast<double>(iterates_ + last_iterates_);
        std::vector<double> beta(g_.size()), f(g_.size());
        double size = 0, square = 0;
        for (std::size_t i = 0; i < g_.size(); ++i) {
            beta[i] = (sum_c_[i] + last_c_[i]) / count;
            f[i] = (sum_g_[i] + last_g_[i]) / count;
            size += std::abs(beta[i]);
            square += beta[i] * f[i];
        }
        const double error = size * gram_.source().error() + (rounded_ + last_rounded_) / count;
        WaterLevel own(labels, weights, free_intercept());
        if (finds_nu()) nu_ = matching_nu(f, own);
        WaterLevel::Level level = own.find(f.data(), nu_ * total);
        own.centre(f.data(), level);
        Bounds margins = solution.bounds;
        if (finds_nu())
            steps.offer_dual(level.gamma, square);
        else
            lower_bound(beta, f, error, margins);
        solution.nu = nu_;
        // Its level is 1, or for a given nu above that by what rounding may take off it: nu = 0 allows for no
        // loss at all. A level of zero or less has no machine yet.
        const double lift =
            finds_nu() || !(level.gamma > 0) ? 0 : std::min(0.5, 1.1 * error / level.gamma + 0x1p-48);
        const double unity = level.gamma * (1 - lift);
        const double factor = unity > 0 ? 1 / unity : 0, b = level.b * factor;
        for (double& value : beta) value *= factor;
        for (double& value : f) value *= factor;
        const double epochs = static_cast<double>(t_) / static_cast<double>(n);
        const double off = factor * error * (1 + 1e-10);
        if (!finds_nu()) {
            const Bound own = margin_of(beta, f, off, b, lift);
            margins.dual = own.value;
            margins.below = own.rounding;
        }
        const bool over =
            checks_.check(beta, f, off, b, epochs, last, false, solution, finds_nu() ? nullptr : &margins);
        if (finds_nu()) {  // iterates of other nu, long ago, leave the mean
            last_c_ = std::exchange(sum_c_, std::vector<double>(g_.size()));
            last_g_ = std::exchange(sum_g_, std::vector<double>(g_.size()));
            last_iterates_ = std::exchange(iterates_, 0);
            last_rounded_ = std::exchange(rounded_, 0);
        }
        return over;
    }

    /// The nu at whose level C gamma sum_{under} s_i c_i = 1: the left side grows with nu. Both classes weigh
    /// the same under the level, those at it by their share, so that the intercept does not count.
    double matching_nu(const std::vector<double>& f, WaterLevel& own) {
        double low = 0, high = radius;
        const auto product = [&](double nu) {
            const WaterLevel::Level level = own.find(f.data(), nu * total);
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t k = own.basin(i);
                const double c = labels[i] * f[i];
                sum += weights[i] * c * (c < level.at[k] ? 1 : c == level.at[k] ? level.share[k] : 0);
            }
            return level.gamma > 0 ? level.gamma * sum * options_.C : 0.0;
        };
        while (high < 1e100 && product(high) < 1) low = high, high *= 256;
        for (int k = 0; k < 50 && high - low > 1e-9 * high; ++k) {
            const double middle = low > 0 ? std::sqrt(low * high) : high / 16;
            if (middle < 1e-300) break;
            (product(middle) < 1 ? low : high) = middle;
        }
        return high;
    }

    /// What rounding of weights' sums, and of a few operations more, makes of a bound.
    double slack() const { return 1 + 4 * static_cast<double>(n + 64) * unit; }

    /// Lowers the upper bound to that of a distribution p, if it is lower. p is in proportion to numbers of
    /// this sum, and sum_i p_i y_i phi_i to a vector of this square, which is too small by `off` at most.
    void lower_bound(double sum, double square, double off, double densest, Bounds& bounds) const {
        const double slope = nu_ > 0 ? nu_ * (total * densest) : 0;
        const double plain = (std::sqrt(std::max(square, 0.0)) + slope) / sum;
        const double bound = (std::sqrt(std::max(square + off, 0.0)) + slope) * slack() / sum;
        if (!(bound < bounds.primal)) return;
        bounds.primal = bound;
        bounds.above = bound - plain;
    }

    /// The same for the p of coefficients beta, given responses that are off by at most `error`.
    void lower_bound(const std::vector<double>& beta, const std::vector<double>& f, double error,
                     Bounds& bounds) {
        std::vector<double> p(beta.size()), responses = f;
        double sums[2] = {0, 0};
        for (std::size_t i = 0; i < n; ++i) {
            if (labels[i] * beta[i] > 0) p[i] = beta[i];
            sums[p[i] > 0] += std::abs(p[i]);
        }
        if (free_intercept()) {
            if (!(sums[0] > 0 && sums[1] > 0)) return;  // no p_i y_i that sum to zero
            for (std::size_t i = 0; i < n; ++i)
                if (p[i] != 0) p[i] *= std::min(1.0, sums[p[i] < 0] / sums[p[i] > 0]);
            pegasos::settle(problem_, p);
        }
        std::vector<RowNumber> which;
        std::vector<double> steps;
        for (std::size_t i = 0; i < n; ++i) {
            if (p[i] == beta[i]) continue;
            which.push_back(static_cast<RowNumber>(i));
            steps.push_back(p[i] - beta[i]);
        }
        gram_.add(which, steps, responses);
        Sum sum, square;
        double densest = 0, moved = 0;
        for (std::size_t i = 0; i < n; ++i) {
            sum.add(std::abs(p[i]));
            square.add(p[i] * responses[i]);
            moved += std::abs(p[i] - beta[i]);
            if (p[i] != 0) densest = std::max(densest, std::abs(p[i]) / weights[i]);
        }
        const double off = sum.value() * (error + gram_.error_of(moved));
        lower_bound(sum.value(), square.value(), off, densest, bounds);
    }

    /// The margin of a machine whose responses are off by at most `error`, and whose level was lifted for
    /// that; 0 of none.
    Bound margin_of(const std::vector<double>& beta, const std::vector<double>& f, double error, double b,
                    double lift) const {
        Sum square, losses;
        double size = 0, products = 0;
        for (std::size_t i = 0; i < n; ++i) {
            size += std::abs(beta[i]);
            square.add(beta[i] * f[i]);
            products += std::abs(beta[i] * f[i]);
            const double off = error + 4 * unit * (1 + std::abs(f[i]) + std::abs(b));
            const double loss = 1 - labels[i] * (f[i] + b) + off;
            if (loss > 0 && weights[i] > 0) losses.add(weights[i] * loss + least);
        }
        if (size == 0) return {};
        const auto inside = [&](double square) {
            return 1 / std::sqrt(std::max(square, 0.0) + least * static_cast<double>(n));
        };
        const double most = inside(square.value() + size * error + 4 * unit * products);
        const double allowed =
            losses.value() > 0 ? nu_ * (total / losses.value()) : std::numeric_limits<double>::infinity();
        const double margin = std::min(most, allowed) / slack();
        return {margin, std::max(lift * margin, most < allowed ? inside(square.value()) - margin : 0.0)};
    }

    double density_;  // the largest p_i / s_i of a p in proportion to the weights, by class
    Gram<Real>& gram_;
    const KernelProblem& problem_;
    const MarginOptions options_;
    Context& context_;
    KernelChecks<Real> checks_;
    double nu_;
    std::vector<double> c_, g_;
    std::vector<double> earlier_c_, earlier_g_, sum_c_, sum_g_, last_c_, last_g_;
    double scale_ = 1, mass_ = 0;
    double rounded_ = 0, last_rounded_ = 0;  // how far sum_g_ and last_g_ may be off by rounding
    std::uint64_t t_ = 0, iterates_ = 0, last_iterates_ = 0;
};

}  // namespace pegasos
