// clang-format off
// SGD-s on all classes jointly: S3's descent (see sgd.cpp) on the losses of multiclass.hpp, with A = lambda t W and
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
// For hinge, where g is linear, the first two are equal. As in sgd.cpp the losses met estimate the objective J for
// nothing; only where J - L <= f tol L is it computed in full, with the dual value of the P_k: the certificate.
// clang-format on
#include <span>
#include <utility>

#include "classes/joint_certificate.hpp"
#include "classes/solvers/solve.hpp"
#include "linear/solvers/sgd_passes.hpp"

namespace pegasos {

namespace {

class JointSgd final : private SgdPasses {
public:
    JointSgd(const JointProblem& problem, const SgdOptions& options, Sampler& sampler, Context& context)
        : SgdPasses(problem.C, problem.n_rows(), options, sampler, context),
          problem_(problem),
          stride_(padded(problem.n_classes)),
          A_(problem.dimension(), problem.n_classes),
          f_(stride_),
          p_(stride_),
          slopes_(problem.n_rows(), problem.n_classes) {}

    Solution run(const Start& start) {
        resume(start);
        Solution solution = SgdPasses::run();
        swap_sign(solution.q, problem_.labels, problem_.n_classes);
        return solution;
    }

private:
    /// Continues at A = lambda t W. M and the slopes met start anew: the bound speaks of the new visits
    /// alone.
    void resume(const Start& start) {
        t_ = static_cast<double>(start.t);
        if (start.w.empty()) return;
        A_.assign(start.w);
        for (double& x : A_.values()) x *= theta();
        Sum square;
        for (const double x : A_.values()) square.add(x * x);
        square_ = square.value();
    }

    bool present(std::span<const RowNumber> block, double, double& losses) override {
        return problem_.rows.visit([&](const auto& rows) {
            for (std::size_t b = 0; b < block.size(); ++b) {
                prefetch_ahead<16, 8>(rows, block.data(), b, block.size(), problem_.labels.data());
                losses += present(rows, block[b]);
                if (context_.monitor.worked(rows.entries(block[b]) * stride_ / 8)) return false;
            }
            return true;
        });
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

    void state(State& state) override {
        state.array(A_.values().data(), A_.values().size());
        state(slopes_);
    }

    /// The dual point is kept as e_y - p.
    void check(Solution& solution) override {
        ClassMatrix<double> W(problem_.dimension(), problem_.n_classes);
        const double inverse = inverse_theta();
        for (std::size_t j = 0; j < W.values().size(); ++j) W.values()[j] = inverse * A_.values()[j];
        DualPoint point;
        const auto slopes = [&](std::size_t first, std::size_t last, const double*, double* p) {
            for (std::size_t i = first; i < last; ++i) slopes_.mean(i, p + (i - first) * stride_);
        };
        const auto kept = take_bounds(solution, JointPass(problem_, W, context_), point, slopes,
                                      problem_.loss->is_dual_linear());
        if (kept.w) solution.w = W.flat();
        if (kept.q) solution.q = std::move(point.q);
        solution.tell(context_);
    }

    const JointProblem& problem_;
    const std::size_t stride_;
    ClassMatrix<double> A_;
    AlignedVector<double> f_, p_;  // scores and slope of a row
    MetSlopes slopes_;
};

}  // namespace

Solution solve_sgd_jointly(const JointProblem& problem, const SgdOptions& options, Sampler& sampler,
                           const Start& start, Context& context) {
    return JointSgd(problem, options, sampler, context).run(start);
}

}  // namespace pegasos
