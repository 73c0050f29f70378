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
#include "classes/solvers/joint_sgd.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "classes/joint_certificate.hpp"

namespace pegasos {

namespace {

class JointSgd {
public:
    JointSgd(const JointProblem& problem, const JointSgdOptions& options, Sampler& sampler, Context& context)
        : problem_(problem),
          options_(options),
          sampler_(sampler),
          context_(context),
          stride_(padded(problem.n_classes)),
          lambda_(1 / (problem.C * static_cast<double>(problem.n_rows()))),
          A_(problem.dimension(), problem.n_classes),
          block_(1024),
          f_(stride_),
          p_(stride_),
          slopes_(problem.n_rows(), problem.n_classes) {}

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

    double epochs() const { return static_cast<double>(steps_) / static_cast<double>(problem_.n_rows()); }
    std::uint64_t left() const {
        return options_.max_steps ? options_.max_steps - steps_ : problem_.n_rows();
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
        std::uint64_t rest = std::min<std::uint64_t>(problem_.n_rows(), left());
        double losses = 0;
        while (rest > 0) {
            const std::span<RowNumber> block(block_.data(), std::min<std::uint64_t>(rest, block_.size()));
            sampler_.fill(block);
            context_.monitor.at_epoch(epochs());
            if (!problem_.rows.visit([&](const auto& rows) { return present(rows, block, losses); }))
                return losses;
            rest -= block.size();
        }
        T_ += 1;
        return losses;
    }

    /// Presents the rows of a block, and adds their losses before; false when the time is up.
    template <class Rows>
    bool present(const Rows& rows, std::span<const RowNumber> block, double& losses) {
        for (std::size_t b = 0; b < block.size(); ++b) {
            if (b + far < block.size()) rows.prefetch_start(block[b + far]);
            if (b + near < block.size()) rows.prefetch_row(block[b + near]);
            losses += present(rows, block[b]);
            if (context_.monitor.worked(rows.entries(block[b]) * stride_ / 8)) return false;
        }
        return true;
    }

    /// Presents row k; its loss before.
    template <class Rows>
    double present(const Rows& rows, RowNumber k) {
        const std::uint32_t y = problem_.labels[k];
        const double s = problem_.weights[k], inverse = inverse_theta();
        double *f = f_.data(), *p = p_.data();
        A_.scores(rows, k, f);
        for (std::size_t c = 0; c < stride_; ++c) f[c] *= inverse;
        const double loss = problem_.loss->slope(f, y, p);
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
        const auto mean_slopes = [&](std::size_t first, std::size_t last, const double*, double* p) {
            for (std::size_t i = first; i < last; ++i) slopes_.mean(i, p + (i - first) * stride_);
        };
        const JointPass pass(problem_, W, context_);
        const Bound primal = pass.make(point, mean_slopes);
        // For hinge, whole epochs have S3's bound as it is.
        if (steps_ % problem_.n_rows() != 0 || !problem_.loss->is_dual_linear()) point.rescale();
        Bounds bounds = between(primal, point.value());
        if (bounds.wants_care(options_.tol) && !context_.monitor.timed_out())
            pass.look_closely(point, bounds);
        const auto kept = solution.take(context_, epochs(), bounds, !options_.last);
        if (kept.w) solution.w = W.flat();
        if (kept.q) solution.q = std::move(point.q);
    }

    const JointProblem& problem_;
    const JointSgdOptions options_;
    Sampler& sampler_;
    Context& context_;
    const std::size_t stride_;
    const double lambda_;
    ClassMatrix<double> A_;
    std::vector<RowNumber> block_;
    AlignedVector<double> f_, p_;  // scores and slope of a row
    MetSlopes slopes_;
    double T_ = 0, square_ = 0, errors_ = 0;  // square: ||A||^2; errors: M
    std::uint64_t t_ = 0, steps_ = 0;
};

}  // namespace

Solution solve_joint_sgd(const JointProblem& problem, const JointSgdOptions& options, Sampler& sampler,
                         const Start& start, Context& context) {
    return JointSgd(problem, options, sampler, context).run(start);
}

}  // namespace pegasos
