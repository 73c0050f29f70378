// clang-format off
// SGD-s on all classes jointly: S3's descent (see sgd.hpp) on the losses of multiclass.hpp, with A = lambda t W and
// lambda = 1/(C m). A visit of row k, with the scores f = x_k W and the slope p of its loss there, p in the simplex, is
//
//   A <- A + s_k x_k' (e_{y_k} - p),    M <- M + s_k g(p),    g(p) = l(f, y_k) + f_{y_k} - <p, f>
//
// (Fenchel and Young, with equality as p is a slope at f): for hinge the cost of the class chosen, for log_loss the
// entropy of p. After T epochs, each with every row once, W is the U of the mean slopes P_k of the rows. These are in
// the simplex, and g is concave, so that by Jensen
//
//   L = C M / T - 1/2 ||W||^2  <=  C sum_k s_k g(P_k) - 1/2 ||W||^2  <=  optimum.
//
// For hinge, where g is linear, the first two are equal. As in sgd.hpp the losses met estimate the objective J for
// nothing; only where J - L <= f tol L is it computed in full, with the dual value of the P_k: the certificate.
// clang-format on
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "classes/joint_certificate.hpp"

namespace pegasos {

struct JointSgdOptions {
    double patience = 1.2;  // f
    double tol = 0;
    std::uint64_t max_passes = 1;
    std::uint64_t max_steps = 0;  // ends within a pass; 0: no such limit
    bool last = false;            // whether to return the last vector, not the best
};

template <class Loss, class Rows>
class JointSgd {
public:
    JointSgd(const JointProblem<Rows>& problem, const JointSgdOptions& options, Sampler& sampler,
             Context& context)
        : problem_(problem),
          options_(options),
          sampler_(sampler),
          context_(context),
          stride_(padded(problem.n_classes)),
          lambda_(1 / (problem.C * static_cast<double>(problem.rows.n_rows))),
          loss_(problem.cost, problem.n_classes),
          A_(problem.dimension(), problem.n_classes),
          block_(1024),
          f_(stride_),
          p_(stride_),
          slopes_(problem.rows.n_rows, problem.n_classes) {}

    Solution run(const Start& start) {
        resume(start);
        Solution solution;
        std::uint64_t pass = 0, next_record = 1;
        for (;;) {
            const double losses = make_pass();
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
        swap_sign(solution.q, problem_.labels, problem_.n_classes);
        solution.t = t_;
        solution.steps = steps_;
        solution.epochs = epochs();
        solution.seconds = context_.monitor.seconds();
        return solution;
    }

private:
    static constexpr std::size_t far = 16, near = 8;  // prefetch distances, in rows

    double epochs() const { return static_cast<double>(steps_) / static_cast<double>(problem_.rows.n_rows); }
    std::uint64_t left() const {
        return options_.max_steps ? options_.max_steps - steps_ : problem_.rows.n_rows;
    }
    double theta() const { return lambda_ * static_cast<double>(t_); }
    double inverse_theta() const { return t_ > 0 ? 1 / theta() : 0; }  // W is zero at t = 0

    /// Continues at A = lambda t W. M and the slopes met start anew: the bound speaks of the new visits
    /// alone.
    void resume(const Start& start) {
        t_ = start.t;
        if (start.w.empty()) return;
        A_.assign(start.w);
        for (double& x : A_.values()) x *= theta();
        Sum square;
        for (const double x : A_.values()) square.add(x * x);
        square_ = square.value();
    }

    /// Presents each row once; the sum of the losses met.
    double make_pass() {
        const Rows& rows = problem_.rows;
        std::uint64_t rest = std::min<std::uint64_t>(rows.n_rows, left());
        double losses = 0;
        while (rest > 0) {
            const std::span<RowNumber> block(block_.data(), std::min<std::uint64_t>(rest, block_.size()));
            sampler_.fill(block);
            context_.monitor.at_epoch(epochs());
            for (std::size_t b = 0; b < block.size(); ++b) {
                if (b + far < block.size()) rows.prefetch_start(block[b + far]);
                if (b + near < block.size()) rows.prefetch_row(block[b + near]);
                losses += present(block[b]);
                if (context_.monitor.worked(rows.entries(block[b]) * stride_ / 8)) return losses;
            }
            rest -= block.size();
        }
        T_ += 1;
        return losses;
    }

    /// Presents row k; its loss before.
    double present(RowNumber k) {
        const Rows& rows = problem_.rows;
        const std::uint32_t y = problem_.labels[k];
        const double s = problem_.weights[k], inverse = inverse_theta();
        double *f = f_.data(), *p = p_.data();
        A_.scores(rows, k, f);
        for (std::size_t c = 0; c < stride_; ++c) f[c] *= inverse;
        const double loss = loss_.slope(f, y, p);
        slopes_.met(k, p);
        double along = 0, square = 0;
        for (std::size_t c = 0; c < stride_; ++c) {
            p[c] = (c == y) - p[c];
            along += f[c] * p[c];
            square += p[c] * p[c];
        }
        errors_ += s * (loss + along);
        if (square > 0 && s > 0) {
            A_.add_nonzero(rows, k, s, p);
            square_ += s * (2 * theta() * along + s * square * rows.squared_norm(k));
        }
        ++t_;
        ++steps_;
        return s * loss;
    }

    /// Whether the free estimate promises tol.
    bool promising(double losses) const {
        if (options_.tol <= 0) return false;
        const double half_square = square_ / (2 * theta() * theta());
        const double bound = problem_.C * errors_ / T_ - half_square;
        return half_square + problem_.C * losses - bound <= options_.patience * options_.tol * bound;
    }

    /// Bounds now, for the solution to take what is better; its dual point is kept as e_y - p.
    void check(Solution& solution) {
        ClassMatrix<double> W(problem_.dimension(), problem_.n_classes);
        const double inverse = inverse_theta();
        for (std::size_t j = 0; j < W.values().size(); ++j) W.values()[j] = inverse * A_.values()[j];
        DualPoint point;
        const Bound primal =
            evaluate_jointly<Loss>(problem_, W, context_.team, context_.monitor, point,
                                   [&](std::size_t i, Loss& loss, const double* f, double* p) {
                                       if (!slopes_.mean(i, p)) loss.slope(f, problem_.labels[i], p);
                                   });
        // For hinge, whole epochs have S3's bound as it is.
        if (steps_ % problem_.rows.n_rows != 0 || !std::is_same_v<Loss, JointHinge>) point.rescale();
        Bounds bounds = between(primal, point.value());
        if (bounds.wants_care(options_.tol) && !context_.monitor.timed_out())
            look_closely_jointly<Loss>(problem_, W, context_.team, context_.monitor, point, bounds);
        const auto kept = solution.take(context_, epochs(), bounds, !options_.last);
        if (kept.w) solution.w = W.flat();
        if (kept.q) solution.q = std::move(point.q);
    }

    const JointProblem<Rows>& problem_;
    const JointSgdOptions options_;
    Sampler& sampler_;
    Context& context_;
    const std::size_t stride_;
    const double lambda_;
    Loss loss_;
    ClassMatrix<double> A_;
    std::vector<RowNumber> block_;
    AlignedVector<double> f_, p_;  // scores and slope of a row
    Slopes slopes_;
    double T_ = 0, square_ = 0, errors_ = 0;  // square: ||A||^2; errors: M
    std::uint64_t t_ = 0, steps_ = 0;
};

}  // namespace pegasos
