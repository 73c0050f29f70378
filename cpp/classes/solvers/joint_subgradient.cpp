// clang-format off
// Pegasos on all classes jointly (S0 section 5), on f(W) = lambda/2 ||W||^2 + 1/m sum_i l(x_i W, y_i):
//
//   A_t        a batch of k rows
//   V_t      = 1/k sum_{i in A_t} x_i' (e_{y_i} - p_i)    minus a sub-gradient of the batch's loss, p_i in its simplex
//   W_{t+1}  = (1 - 1/t) W_t + 1/(lambda t) V_t
//   W_{t+1} <- min(1, r / ||W_{t+1}||) W_{t+1}            optional, r^2 = C sum_i s_i l(0, y_i) >= ||W*||^2
//
// With weights s_i the slope of row i counts m s_i / sum(s) times. Outputs and the times of checks are as in
// subgradient.cpp; W = a V and the sum of iterates are kept as in scaled_vector.hpp.
// clang-format on
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "classes/joint_certificate.hpp"
#include "classes/scaled_classes.hpp"
#include "classes/solvers/solve.hpp"

namespace pegasos {

namespace {

class JointSubgradient final : private Iterates {
public:
    JointSubgradient(const JointProblem& problem, const IterateOptions& options, Sampler& sampler,
                     Context& context)
        : Iterates(options, problem.n_rows(), sampler, context),
          problem_(problem),
          options_(options),
          stride_(padded(problem.n_classes)),
          W_(problem.dimension(), problem.n_classes, options.project, is_mean(options.output)),
          output_(problem.dimension(), problem.n_classes),
          f_(stride_),
          d_(options.batch * stride_),
          slopes_(problem.n_rows(), problem.n_classes),
          certifier_(context.monitor) {
        Sum square;
        for (std::size_t i = 0; i < problem.n_rows(); ++i)
            square.add(problem.weights[i] * problem.loss->at_zero(problem.labels[i]));
        radius_ = std::sqrt(problem.C * square.value());
    }

    Solution run(const Start& start) {
        t_ = start.t + 1;
        if (!start.w.empty()) W_.assign(start.w);
        Solution solution = Iterates::run(options_.max_steps, "budget");
        solution.w = laid_out(solution.w);
        solution.q = certifier_.take_dual();
        swap_sign(solution.q, problem_.labels, problem_.n_classes);
        solution.t = t_ - 1;
        return solution;
    }

private:
    void state(State& state) override { state(W_, slopes_, certifier_, t_); }

    std::vector<double> laid_out(const std::vector<double>& w) override { return output_.from(w).flat(); }
    std::vector<double> iterate() const override { return W_.value(); }
    std::vector<double> sum_of_iterates() const override { return W_.sum_of_iterates(); }

    Bounds check(const std::vector<double>& w, Solution&) override {
        const auto slopes = [&](std::size_t first, std::size_t last, const double*, double* p) {
            for (std::size_t i = first; i < last; ++i) {
                slopes_.mean(i, p + (i - first) * stride_);
                slopes_.forget(i);
            }
        };
        return certifier_.check(JointPass(problem_, output_.from(w), context_), slopes, options_.tol);
    }

    /// How many steps were made before the time was up.
    std::uint64_t make_steps(std::span<const RowNumber> block) override {
        return problem_.rows.visit([&](const auto& rows) {
            std::size_t at = 0;
            while (at < block.size() && step(rows, block, at)) at += options_.batch;
            return at / options_.batch;
        });
    }

    /// One step on the batch at block[at], block[at + 1], ...; false, and no step, when the time is up.
    template <class Rows>
    bool step(const Rows& rows, std::span<const RowNumber> block, std::size_t at) {
        for (std::size_t b = at; b < at + options_.batch; ++b) {
            prefetch_ahead<16, 8>(rows, block.data(), b, block.size(), problem_.labels.data());
            W_.scores(rows, block[b], f_.data());
            problem_.loss->slope(f_.data(), problem_.labels[block[b]], &d_[(b - at) * stride_]);
            if (monitor_.worked(rows.entries(block[b]) * stride_ / 8)) return false;
        }
        W_.accumulate();
        const double inverse = 1 / static_cast<double>(t_);
        const double each = inverse / problem_.lambda() * static_cast<double>(rows.n_rows) /
                            (static_cast<double>(options_.batch) * problem_.total_weight);
        W_.scale(1 - inverse);
        for (std::size_t b = 0; b < options_.batch; ++b) {
            const RowNumber i = block[at + b];
            double* d = &d_[b * stride_];
            slopes_.met(i, d);
            for (std::size_t k = 0; k < stride_; ++k) d[k] = 0 - d[k];
            d[problem_.labels[i]] += 1;
            if (std::any_of(d, d + stride_, [](double x) { return x != 0; }))
                W_.add(rows, i, each * problem_.weights[i], d);
            if (options_.batch > 1)
                monitor_.worked(rows.entries(i) * stride_ / 8);  // a long batch must hear an interrupt too
        }
        if (options_.project) W_.project(radius_);
        ++t_;
        return true;
    }

    const JointProblem& problem_;
    const IterateOptions options_;
    const std::size_t stride_;
    ScaledClasses W_;
    ClassMatrix<double> output_;
    double radius_ = 0;
    AlignedVector<double> f_, d_;  // scores of a row, slopes of the batch
    MetSlopes slopes_;
    Certifier certifier_;
    std::uint64_t t_ = 1;
};

}  // namespace

Solution solve_subgradient_jointly(const JointProblem& problem, const IterateOptions& options,
                                   Sampler& sampler, const Start& start, Context& context) {
    return JointSubgradient(problem, options, sampler, context).run(start);
}

}  // namespace pegasos
