// clang-format off
// SGD-r, SGD-s, SGD-m (S3): sub-gradient descent with step size 1/(t + 1), in the variable a = lambda t w.
// Rows are reflected: y_k stands for label times row. lambda = 1/(C m).
//
//   a_{t+1} = a_t + y_k   if a_t . y_k <= lambda t,  else a_t                                  (S3 eq. 5 to 7)
//
// so that shrinking costs nothing: t grows. After T complete epochs with M margin errors the dual variables
// alpha_k = C I_k / T, I_k the errors on row k, are in their box, and (Proposition 2, eq. 9)
//
//   L = C M / T - 1/2 ||w||^2  <=  optimum.
//
// SGD-s presents each row once an epoch. SGD-m presents it l times at once in some epochs; the number of errors among the
// l presentations is, with P = a . y_k - lambda t (Proposition 3, eq. 13, [] the integer part),
//
//   l+ = 0 if P > (l - 1) lambda,  else min(l, [((l - 1) lambda - P) / max(||y_k||^2, lambda)] + 1),
//
// and such an epoch counts as l epochs in T and t. SGD-r draws rows at random, and obeys the box only asymptotically
// (footnote 4); there alpha_k = C I_k / V_k, V_k the visits of row k, which is always in the box.
//
// Stopping (footnote 5): the losses met during an epoch estimate the objective for nothing; only where that estimate J
// has J - L <= f tol L is the objective computed in full. That pass makes the certificate.
//
// Other losses (SGD-r and SGD-s): the errors of a visit are its slope q, a_{t+1} = a_t + q y_k, and it adds
// dual(q) = loss(z) + q z to M, which for hinge is 1 at an error. The bound is that of the mean slopes (Jensen). Where
// slopes have no bound, t begins late, as in subgradient.hpp; the bound has mean slopes and so C/T a in place of w.
//
// Weights: row k enters as s_k y_k, M grows by s_k, and s_k ||x_k||^2 takes the place of ||y_k||^2 in eq. 13.
// clang-format on
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "linear/certificate.hpp"
#include "linear/losses.hpp"

namespace pegasos {

struct SgdOptions {
    bool complete_epochs = true;     // false: SGD-r
    std::uint64_t multiplicity = 1;  // l, in passes T (from 0) with 0 < T mod period < burst
    std::uint64_t period = 9, burst = 5;
    double patience = 1.2;  // f
    double tol = 0;
    std::uint64_t max_passes = 1;
    std::uint64_t max_steps = 0;  // ends within a pass; 0: no such limit
    bool last = false;            // whether to return the last vector, not the best
};

template <class Loss, class Rows>
class Sgd {
public:
    Sgd(const Loss& loss, const Problem<Rows>& problem, const SgdOptions& options, Sampler& sampler,
        Context& context)
        : loss_(loss),
          problem_(problem),
          options_(options),
          sampler_(sampler),
          context_(context),
          lambda_(1 / (problem.C * static_cast<double>(problem.rows.n_rows))),
          a_(problem.dimension()),
          block_(1024) {
        visited_.reserve(problem.rows.n_rows);
        for (std::size_t i = 0; i < problem.rows.n_rows; ++i)
            visited_.push_back({loss.sign(problem.labels[i]) * problem.weights[i]});
    }

    Solution run(const Start& start) {
        resume(start);
        Solution solution;
        std::uint64_t pass = 0, next_record = 1;
        for (;;) {
            const std::uint64_t in_period = pass % options_.period;
            const bool many = in_period > 0 && in_period < options_.burst;
            const double losses = make_pass(many ? options_.multiplicity : 1);
            ++pass;
            const bool out_of_time = context_.monitor.timed_out();
            const bool last = out_of_time || pass == options_.max_passes || left() == 0;
            if (last || promising(losses) || pass == next_record) {
                if (pass == next_record) next_record *= 2;
                check(solution);
                const char* end = out_of_time ? "max_time" : last ? "budget" : nullptr;
                if (const char* reason = solution.bounds.reason(options_.tol, end)) {
                    solution.reason = reason;
                    break;
                }
            }
        }
        solution.t = static_cast<std::uint64_t>(t_);
        solution.steps = steps_;
        solution.epochs = epochs();
        solution.seconds = context_.monitor.seconds();
        return solution;
    }

private:
    static constexpr std::size_t far = 32, near = 16;  // prefetch distances, in rows

    double epochs() const { return static_cast<double>(steps_) / static_cast<double>(problem_.rows.n_rows); }
    std::uint64_t left() const {
        return options_.max_steps ? options_.max_steps - steps_ : problem_.rows.n_rows;
    }

    /// Continues at a = lambda t w. The counts start anew: the bound then speaks of the new visits alone.
    void resume(const Start& start) {
        for (std::size_t i = 0; loss_.curvature > 0 && i < problem_.rows.n_rows; ++i)
            late_ = std::max(late_, std::ceil(loss_.curvature * problem_.weights[i] *
                                              problem_.rows.squared_norm(i) / lambda_));
        t_ = std::max(static_cast<double>(start.t), late_);
        for (std::size_t j = 0; j < start.w.size(); ++j) a_[j] = lambda_ * t_ * start.w[j];
        square_ = squared_norm(a_);
    }

    /// Presents as many rows as there are, each `l` times; the sum of the losses met.
    double make_pass(std::uint64_t l) {
        std::uint64_t rest = std::min<std::uint64_t>(problem_.rows.n_rows, left());
        double losses = 0;
        while (rest > 0) {
            const std::span<RowNumber> block(block_.data(), std::min<std::uint64_t>(rest, block_.size()));
            sampler_.fill(block);
            context_.monitor.at_epoch(epochs());
            for (std::size_t p = 0; p < block.size(); ++p) {
                prefetch_ahead(block, p);
                losses += present(block[p], static_cast<double>(l));
                ++steps_;
                if (context_.monitor.worked(problem_.rows.entries(block[p]))) return losses;
            }
            rest -= block.size();
        }
        T_ += static_cast<double>(l);
        return losses;
    }

    void prefetch_ahead(std::span<const RowNumber> block, std::size_t p) const {
        if (p + far < block.size()) {
            problem_.rows.prefetch_start(block[p + far]);
            prefetch(&visited_[block[p + far]]);
        }
        if (p + near < block.size()) problem_.rows.prefetch_row(block[p + near]);
    }

    /// Presents row k l times; its loss before.
    double present(RowNumber k, double l) {
        const Rows& rows = problem_.rows;
        Visited& row = visited_[k];
        const double sign = row.label(), s = row.weight(), p = sign * rows.dot(k, a_.data()),
                     theta = lambda_ * t_;
        double loss = 0, errors = 0;
        if constexpr (std::is_same_v<Loss, Hinge>) {
            loss = t_ > 0 ? std::max(0.0, 1 - p / theta) : 1;
            if (const double slack = (l - 1) * lambda_ - (p - theta); slack >= 0) {
                errors = 1;
                if (l > 1) {
                    const double square = rows.squared_norm(k);
                    errors = std::min(l, std::floor(slack / std::max(s * square, lambda_)) + 1);
                }
            }
            errors_ += errors * s;
        } else {
            const double z = t_ > 0 ? p / theta : 0, y = problem_.labels[k];
            loss = loss_.value(z, y);
            errors = loss_.slope(z, y);
            errors_ += s * loss_.dual(errors, 1, y);
        }
        if (errors != 0) {
            const auto [dot, square] = rows.add_tracked(k, errors * row.signed_weight, a_.data());
            square_ += errors * s * (2 * sign * dot + errors * s * square);
        }
        row.visits += static_cast<std::uint32_t>(l);
        row.slopes += static_cast<float>(errors);
        t_ += l;
        return s * loss;
    }

    /// Whether the free estimate promises tol. Only complete epochs have the bound.
    bool promising(double losses) const {
        if (!options_.complete_epochs || options_.tol <= 0) return false;
        const double theta = lambda_ * t_, half_square = square_ / (2 * theta * theta);
        const double mean = problem_.C / T_;
        const double bound =
            problem_.C * errors_ / T_ - (late_ > 0 ? mean * mean * square_ / 2 : half_square);
        return half_square + problem_.C * losses - bound <= options_.patience * options_.tol * bound;
    }

    /// Bounds now, for the solution to take what is better.
    void check(Solution& solution) {
        std::vector<double> w = a_;
        const double scale = t_ > 0 ? 1 / (lambda_ * t_) : 0;
        for (double& x : w) x *= scale;
        DualPoint point;
        const Bound primal = evaluate(loss_, problem_, w, context_.team, context_.monitor, point,
                                      [&](std::size_t i, double z) {
                                          const Visited& row = visited_[i];
                                          if (row.visits == 0) return loss_.slope(z, problem_.labels[i]);
                                          return loss_.clip(row.slopes / static_cast<double>(row.visits));
                                      });
        // For hinge, whole epochs have S3's bound as it is.
        if (!options_.complete_epochs || steps_ % problem_.rows.n_rows != 0 || !std::is_same_v<Loss, Hinge>)
            point.rescale();
        Bounds bounds = between(primal, point.value());
        if (bounds.wants_care(options_.tol) && !context_.monitor.timed_out())
            look_closely(loss_, problem_, w, context_.team, context_.monitor, point, bounds);
        const auto kept = solution.take(context_, epochs(), bounds, !options_.last);
        if (kept.w) solution.w = std::move(w);
        if (kept.q) solution.q = std::move(point.q);
    }

    const Loss loss_;
    const Problem<Rows>& problem_;
    const SgdOptions options_;
    Sampler& sampler_;
    Context& context_;
    const double lambda_;
    std::vector<double> a_;
    std::vector<RowNumber> block_;
    std::vector<Visited> visited_;
    double t_ = 0, T_ = 0, square_ = 0, errors_ = 0;  // square: ||a||^2; errors: M
    double late_ = 0;                                 // where t begins
    std::uint64_t steps_ = 0;
};

}  // namespace pegasos
