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
// slopes have no bound, t begins late, as in subgradient.cpp; the bound has mean slopes and so C/T a in place of w.
//
// Weights: row k enters as s_k y_k, M grows by s_k, and s_k ||x_k||^2 takes the place of ||y_k||^2 in eq. 13.
// clang-format on
#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "linear/certificate.hpp"
#include "linear/solvers/sgd_passes.hpp"
#include "linear/solvers/solve.hpp"

namespace pegasos {

namespace {

class Sgd final : private SgdPasses {
public:
    Sgd(const Problem& problem, const SgdOptions& options, Sampler& sampler, Context& context)
        : SgdPasses(problem.C, problem.n_rows(), options, sampler, context),
          problem_(problem),
          a_(problem.dimension()),
          visited_(not_visited(problem)) {}

    Solution run(const Start& start) {
        resume(start);
        return SgdPasses::run();
    }

private:
    /// Continues at a = lambda t w. The counts start anew: the bound then speaks of the new visits alone.
    void resume(const Start& start) {
        const double curvature = problem_.loss.curvature;
        problem_.rows.visit([&](const auto& rows) {
            for (std::size_t i = 0; curvature > 0 && i < rows.n_rows; ++i)
                late_ = std::max(late_,
                                 std::ceil(curvature * problem_.weights[i] * rows.squared_norm(i) / lambda_));
        });
        t_ = std::max(static_cast<double>(start.t), late_);
        for (std::size_t j = 0; j < start.w.size(); ++j) a_[j] = lambda_ * t_ * start.w[j];
        square_ = squared_norm(a_);
    }

    bool present(std::span<const RowNumber> block, double l, double& losses) override {
        return problem_.rows.visit([&](const auto& rows) {
            return is_hinge_ ? present_block(rows, Hinge{}, block, l, losses)
                             : present_block(rows, problem_.loss, block, l, losses);
        });
    }

    /// Presents each row l times; false when the time is up.
    template <class Rows, class Loss>
    bool present_block(const Rows& rows, const Loss& loss, std::span<const RowNumber> block, double l,
                       double& losses) {
        double sum = losses;  // in a register
        bool alive = true;
        for (std::size_t p = 0; p < block.size() && alive; ++p) {
            prefetch_ahead(rows, block.data(), p, block.size(), visited_.data());
            sum += present(rows, loss, block[p], l);
            ++steps_;
            alive = !context_.monitor.worked(rows.entries(block[p]));
        }
        losses = sum;
        return alive;
    }

    /// Presents row k l times; its loss before.
    template <class Rows, class Loss>
    double present(const Rows& rows, const Loss& each, RowNumber k, double l) {
        Visited& row = visited_[k];
        const double sign = row.label(), s = row.weight(), p = sign * rows.dot(k, a_.data()),
                     theta = this->theta();
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
            loss = each.value(z, y);
            errors = each.slope(z, y);
            errors_ += s * each.dual(errors, 1, y);
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

    void state(State& state) override {
        state.array(a_.data(), a_.size());
        state.array(visited_.data(), visited_.size());
    }

    void check(Solution& solution) override {
        std::vector<double> w = a_;
        const double scale = inverse_theta();
        for (double& x : w) x *= scale;
        DualPoint point;
        const LinearPass pass(problem_, w, context_);
        const auto slopes = [&](std::size_t first, std::size_t last, const double* z, double* q) {
            pass.mean_slopes(visited_, first, last, z, q);
        };
        const auto kept = take_bounds(solution, pass, point, slopes, is_hinge_);
        if (kept.w) solution.w = std::move(w);
        if (kept.q) solution.q = std::move(point.q);
        solution.tell(context_);
    }

    const Problem& problem_;
    const bool is_hinge_ = problem_.loss.is<Hinge>();
    std::vector<double> a_;
    std::vector<Visited> visited_;
};

}  // namespace

Solution solve_sgd(const Problem& problem, const SgdOptions& options, Sampler& sampler, const Start& start,
                   Context& context) {
    if (!problem.loss.is<Hinge>() && options.multiplicity > 1)
        throw std::invalid_argument("multiple updates are known for the hinge loss alone");
    problem.refuse_free_intercept();
    return Sgd(problem, options, sampler, context).run(start);
}

}  // namespace pegasos
