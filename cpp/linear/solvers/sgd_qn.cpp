// clang-format off
// SGD-QN (Bordes, Bottou, Gallinari 2009, as corrected in 2010), with which S3 section 3 compares: stochastic gradient
// descent on lambda/2 ||w||^2 + 1/m sum_i loss_i with a step size of its own for each weight, a diagonal matrix B.
//
//   z = y_i <w, x_i>,   w <- w + s'_i slope(z) B y_i x_i          each step, on a row i;  s'_i = m s_i / sum(s)
//   w <- w - skip lambda B w                                      every `skip` steps, before that: the regulariser
//
// so that a step costs as much as the row has entries, though B scales every weight. B^-1 adds up estimates of the
// diagonal of the Hessian, so that B falls like 1/t: it begins at B = 1/(lambda t0) I, and where the regulariser was
// applied, and w' is w before, the row i of the next step has
//
//   h_j = [g_i(w) - g_i(w')]_j / [w - w']_j, kept between lambda/10 and 100 lambda,
//   1/B_jj <- 1/B_jj + skip h_j                                   with g_i(w) = lambda w - s'_i slope(z) y_i x_i
//
// The erratum of 2010 has these sums; the algorithm of 2009 took the mean of 1/h_j and divided by t, which is the mean
// in the wrong place. Decided here, where the papers leave it open:
// - The difference is taken on the next row, as in Bottou's program. That row had no part in the step from w' to w.
// - Where weight j did not move, h_j is lambda, or 100 lambda if the slope of the row changed.
// - t0 is at least `skip`. Then skip lambda B <= 1, and the regulariser never turns a weight round.
// - A run that continues another after t steps begins at B = 1/(lambda (t0 + t)) I: B is no part of a model.
// - The constant feature is a feature like the others. Weights s enter as in subgradient.cpp.
//
// Mean slopes make the dual point, as in subgradient.cpp.
// clang-format on
#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "linear/certificate.hpp"
#include "linear/solvers/solve.hpp"

namespace pegasos {

namespace {

class SgdQn final : private Iterates {
public:
    SgdQn(const Problem& problem, const SgdQnOptions& options, Sampler& sampler, Context& context)
        : Iterates(options, problem.n_rows(), sampler, context),
          problem_(problem),
          options_(options),
          scale_(static_cast<double>(problem.n_rows()) / problem.total_weight),
          w_(problem.dimension()),
          before_(problem.dimension()),
          gains_(problem.dimension()),
          visited_(not_visited(problem)),
          left_(options.skip),
          certifier_(context.monitor) {}

    Solution run(Start start) {
        if (!start.w.empty()) w_ = std::move(start.w);
        gains_.assign(gains_.size(), 1 / (lambda_ * (options_.t0 + static_cast<double>(start.t))));
        certifier_.resume(std::move(start.q));
        Solution solution = Iterates::run(options_.max_steps, "budget");
        solution.q = certifier_.take_dual();
        solution.t += start.t;
        return solution;
    }

private:
    std::uint64_t make_steps(std::span<const RowNumber> block) override {
        return problem_.rows.visit([&](const auto& rows) {
            std::size_t p = 0;
            for (; p < block.size(); ++p) {
                prefetch_ahead(rows, block.data(), p, block.size(), visited_.data());
                if (monitor_.worked(rows.entries(block[p]))) break;
                step(rows, block[p]);
            }
            return static_cast<std::uint64_t>(p);
        });
    }

    template <class Rows>
    void step(const Rows& rows, RowNumber i) {
        Visited& row = visited_[i];
        const double z = row.label() * rows.dot(i, w_.data()), slope = Hinge{}.slope(z, 1);
        ++row.visits;
        row.slopes += static_cast<float>(slope);
        if (moved_) estimate(rows, i, slope);
        if (--left_ == 0) regularise();
        if (slope == 0) return;
        const double c = scale_ * slope * row.signed_weight;
        rows.for_each(i, [&](std::size_t j, double x) { w_[j] += c * gains_[j] * x; });
    }

    /// Adds the estimate of the Hessian that row i has from w' to w, given its slope at w.
    template <class Rows>
    void estimate(const Rows& rows, RowNumber i, double slope) {
        const double skip = static_cast<double>(options_.skip), lowest = 0.1 * lambda_,
                     highest = 100 * lambda_;
        const Visited& row = visited_[i];
        const double other = Hinge{}.slope(row.label() * rows.dot(i, before_.data()), 1);
        const double change = scale_ * (other - slope) * row.signed_weight;
        // What the loss adds, at the entries of the row; then lambda everywhere. Neither divisor is below
        // 0.1.
        if (change != 0)
            rows.for_each(i, [&](std::size_t j, double x) {
                const double step = w_[j] - before_[j], rise = change * x;
                const double h = lambda_ + (step != 0 ? rise / step : rise != 0 ? highest : 0);
                gains_[j] /= 1 + skip * gains_[j] * (std::clamp(h, lowest, highest) - lambda_);
            });
        for (double& gain : gains_) gain /= 1 + skip * lambda_ * gain;
        moved_ = false;
    }

    void regularise() {
        const double decay = static_cast<double>(options_.skip) * lambda_;
        before_ = w_;
        for (std::size_t j = 0; j < w_.size(); ++j) w_[j] -= decay * gains_[j] * w_[j];
        moved_ = true;
        left_ = options_.skip;
        monitor_.worked(w_.size());
    }

    std::vector<double> iterate() const override { return w_; }
    std::vector<double> sum_of_iterates() const override { return {}; }  // no output asks for it

    Bounds check(const std::vector<double>& w, Solution&) override {
        return LinearPass(problem_, w, context_).check(certifier_, visited_, options_.tol);
    }

    void state(State& state) override {
        state(certifier_, left_, moved_);
        for (std::vector<double>* numbers : {&w_, &before_, &gains_})
            state.array(numbers->data(), numbers->size());
        state.array(visited_.data(), visited_.size());
    }

    const Problem& problem_;
    const SgdQnOptions options_;
    const double lambda_ = problem_.lambda(), scale_;
    std::vector<double> w_, before_, gains_;  // w, w', B
    std::vector<Visited> visited_;
    std::uint64_t left_;  // steps until the regulariser
    bool moved_ = false;  // from w' to w, and h is not estimated yet
    Certifier certifier_;
};

}  // namespace

Solution solve_sgd_qn(const Problem& problem, const SgdQnOptions& options, Sampler& sampler,
                      const Start& start, Context& context) {
    problem.refuse_free_intercept();
    if (!problem.loss.is<Hinge>()) throw std::invalid_argument("SGD-QN supports the hinge loss alone");
    if (is_mean(options.output) || options.output == Output::random_stop)
        throw std::invalid_argument("SGD-QN returns the best vector or the last one");
    if (options.skip == 0 || !(options.t0 >= static_cast<double>(options.skip)))
        throw std::invalid_argument("t0 must be at least skip, and skip at least 1");
    return SgdQn(problem, options, sampler, context).run(start);
}

}  // namespace pegasos
