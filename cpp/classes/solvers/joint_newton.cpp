// clang-format off
// Newton's method (see newton.cpp) on all classes jointly, with the log loss of multiclass.hpp:
//
//   minimise F(W) = 1/2 ||W||^2 + sum_i c_i l(x_i W, y_i),    c_i = C s_i
//
// With p_i the probabilities of row i at W,
//
//   gradient  G = W - sum_i c_i x_i' (e_{y_i} - p_i),    H V = V + sum_i c_i x_i' (p_i * f_i - <p_i, f_i> p_i),  f_i = x_i V,
//
// where * is the product class by class. Rows whose p_i is near 0 and 1 bend F next to nothing, however wrong they are, and
// a step may then go too far by orders of magnitude. So H has of each row a share m of a parabola that is nowhere below its
// loss (D. Boehning 1992), 1/2 (f_i - mean(f_i)) in place of p_i * f_i - <p_i, f_i> p_i, as that of newton.cpp has of chords.
// m = 0.01 at first; a step as good as expected divides it by ten, and one cut short multiplies it by ten, to 0.01 at least.
// Its diagonal, feature j and class k, is 1 + sum_i c_i x_ij^2 ((1 - m) p_ik (1 - p_ik) + m/2 (1 - 1/K)).
//
// The p_i are a dual point, and the gap of each row is zero at it, so that the gap is 1/2 ||G||^2. A step that has to be
// cut short is rare, and its search reads the rows.
// clang-format on
#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>

#include "classes/joint_certificate.hpp"
#include "classes/solvers/solve.hpp"
#include "linear/solvers/newton_passes.hpp"
#include "rows/passes.hpp"

namespace pegasos {

namespace {

class JointNewton final : private NewtonPasses {
public:
    JointNewton(const JointProblem& problem, const NewtonOptions& options, Context& context)
        : NewtonPasses(problem.dimension() * padded(problem.n_classes),
                       problem.dimension() * padded(problem.n_classes), {0.01, 1e-12, 0.01}, options,
                       context),
          problem_(problem),
          K_(problem.n_classes),
          stride_(padded(K_)),
          V_(problem.dimension(), K_),
          p_(problem.n_rows() * K_),
          parts_(context.team.size()) {
        context.team.run([&](std::size_t t) { parts_[t].emplace(problem.dimension(), K_); });
    }

    Solution run(const Start& start) {
        if (!start.w.empty()) {
            V_.assign(start.w);
            std::copy(V_.values().begin(), V_.values().end(), w_.begin());
        }
        Solution solution = NewtonPasses::run(!start.w.empty(), start.t);
        swap_sign(solution.q, problem_.labels, K_);
        return solution;
    }

private:
    struct alignas(128) Part {
        Part(std::size_t dimension, std::size_t n_classes)
            : sum(dimension, n_classes), f(pass_rows * sum.stride()), step(pass_rows * sum.stride()) {}

        Sum losses;
        ClassMatrix<double> sum;
        AlignedVector<double> f, step;  // of a block of rows
    };

    /// Calls find_step(part, i, f, step) for all rows, f being the row times v, and adds the rows times their
    /// steps; out = v + their sum.
    template <class FindStep>
    void sum_rows(const std::vector<double>& v, std::vector<double>& out, FindStep find_step) {
        V_.from(v);
        sum_blocks(v, out, [&](const auto& rows, Part& part, std::size_t first, std::size_t last) {
            using Loops = BlockLoops<std::decay_t<decltype(rows)>>;
            Loops::scores(rows, first, last, V_.values().data(), K_, part.f.data());
            for (std::size_t i = first, at = 0; i < last; ++i, at += stride_) {
                double* step = &part.step[at];
                find_step(part, i, &part.f[at], step);
                const double cost = problem_.C * problem_.weights[i];
                for (std::size_t k = 0; k < K_; ++k) step[k] = cost == 0 ? 0 : cost * step[k];
            }
            Loops::add(rows, first, last, part.step.data(), part.sum.values().data(), K_);
        });
    }

    /// Calls look(rows, part, first, last) for blocks of rows, with the parts' sums at zero at first; then
    /// out = start + their sum.
    template <class Look>
    void sum_blocks(const std::vector<double>& start, std::vector<double>& out, Look look) {
        context_.team.run([&](std::size_t t) {
            parts_[t]->losses = {};
            std::fill(parts_[t]->sum.values().begin(), parts_[t]->sum.values().end(), 0.0);
        });
        pass_over(problem_.n_rows(), context_.team, context_.monitor,
                  [&](std::size_t t, std::size_t first, std::size_t last) {
                      return problem_.rows.visit([&](const auto& rows) {
                          std::size_t work = 0;
                          for (std::size_t i = first; i < last; ++i) {
                              if (i + pass_rows < rows.n_rows) rows.prefetch_row(i + pass_rows);
                              work += rows.entries(i) + 16;
                          }
                          look(rows, *parts_[t], first, last);
                          return work * stride_ / 8;
                      });
                  });
        for (std::size_t j = 0; j < d_; ++j) {
            double sum = start[j];
            for (const auto& part : parts_) sum += part->sum.values()[j];
            out[j] = sum;
        }
    }

    void evaluate() override {
        sum_rows(w_, g_, [&](Part& part, std::size_t i, const double* f, double* step) {
            const std::uint32_t y = problem_.labels[i];
            part.losses.add(problem_.C * problem_.weights[i] * problem_.loss->slope(f, y, step));
            std::copy_n(step, K_, &p_[i * K_]);
            step[y] -= 1;
        });
        Sum losses;
        for (const auto& part : parts_) losses.add(part->losses.value());
        value_ = squared_norm(w_) / 2 + losses.value();
    }

    void multiply(const std::vector<double>& v, std::vector<double>& out) override {
        sum_rows(v, out, [&](Part&, std::size_t i, const double* f, double* step) {
            const double *p = &p_[i * K_], m = share_;
            double expected = 0, mean = 0;
            for (std::size_t k = 0; k < K_; ++k) {
                expected += p[k] * f[k];
                mean += f[k] / static_cast<double>(K_);
            }
            for (std::size_t k = 0; k < K_; ++k)
                step[k] = (1 - m) * p[k] * (f[k] - expected) + m / 2 * (f[k] - mean);
        });
    }

    void find_diagonal(std::vector<double>& out) override {
        const std::vector<double> ones(d_, 1.0);
        const double m = share_, most = m / 2 * (1 - 1 / static_cast<double>(K_));
        sum_blocks(ones, out, [&](const auto& rows, Part& part, std::size_t first, std::size_t last) {
            for (std::size_t i = first, at = 0; i < last; ++i, at += stride_) {
                const double *p = &p_[i * K_], cost = problem_.C * problem_.weights[i];
                for (std::size_t k = 0; k < K_; ++k)
                    part.step[at + k] = cost * ((1 - m) * p[k] * (1 - p[k]) + most);
            }
            BlockLoops<std::decay_t<decltype(rows)>>::add_squares(rows, first, last, part.step.data(),
                                                                  part.sum.values().data(), K_);
        });
    }

    Bounds check(Solution& solution) override {
        V_.from(w_);
        DualPoint point;
        const auto slopes = [](std::size_t, std::size_t, const double*, double*) {};  // those at W
        const Bounds now =
            JointPass(problem_, V_, context_).bounds(point, slopes, options_.tol, context_.monitor);
        solution.take(context_, static_cast<double>(iterations_), now, V_.flat(), std::move(point.q));
        return now;
    }

    const JointProblem& problem_;
    const std::size_t K_, stride_;
    ClassMatrix<double> V_;  // what the rows are multiplied with
    std::vector<double> p_;  // at W, of each row
    std::vector<std::optional<Part>> parts_;
};

}  // namespace

Solution solve_newton_jointly(const JointProblem& problem, const NewtonOptions& options, const Start& start,
                              Context& context) {
    if (problem.loss->is_dual_linear())
        throw std::invalid_argument("newton supports losses without corners alone");
    return JointNewton(problem, options, context).run(start);
}

}  // namespace pegasos
