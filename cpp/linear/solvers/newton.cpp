// Newton's method on the problem itself, for losses without corners (S. Keerthi and D. DeCoste 2005; C.-J.
// Lin, R. Weng and S. Keerthi 2008).
//
//   minimise F(w) = 1/2 w' R w + sum_i c_i l(z_i),   z_i = y_i <w, x_i>  (regression: <w, x_i>),   c_i = C
//   s_i
//
// R is the identity, less its last entry where the intercept is free. With q_i = -l'(z_i),
//   gradient  g = R w - sum_i c_i q_i y_i x_i,      matrix  H = R + sum_i D_i x_i x_i',   D_i = c_i l''(z_i),
// and only rows with D_i > 0 are part of H: for squared losses those with an error. An iteration
//   1. finds the direction d of H d = -g: by Cholesky's factor of H, or by conjugate gradients, which need
//      only products of H with vectors, two loops over the rows' entries each;
//   2. takes the step w + d, where F falls by a tenth of what the slope <g, d> promises; otherwise it goes
//      to where the slope along the line is about zero, and not above. The z at w and at w + d are known, so
//      are those between: the search reads no rows.
// One pass at the new point has z, F, D and g.
//
// The gap comes with it. q is a dual point, and as q_i is the slope at z_i, the gap of each row is zero.
// What is left of F(w) - D(q) is 1/2 ||w - u||^2 with u = sum_i c_i q_i y_i x_i, so the gap is
//   1/2 ||g||^2.
// A free intercept asks for sum_i y_i c_i q_i = 0. To balance q costs about |w_b g_b| more, b the last entry.
// A pass of its own, which allows for rounding, is made where that promises `tol`, and now and then
// (base/checks.hpp).
//
// Conjugate gradients (Jacobi's preconditioner M, the diagonal of H) end where the residual r has
//   r' M^-1 r <= eta^2 g' M^-1 g,   eta = min(0.3, (gap / F)^(1/4)),
// or is so small that a gradient of its size would be a quarter of the gap that `tol` allows.
//
// Huber's loss is a line beyond its width. Where most rows are there, l'' = 0 tells nothing of how far a step
// may go, and nothing keeps a free intercept. So D_i = c_i (l'' + m (chord - l'')), with the chord of
// losses.hpp. m = 1 at first, with which each step descends; a step as good as expected divides m by ten,
// down to 1e-6, and one cut short multiplies it by ten.
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/vector_math.hpp"
#include "linear/certificate.hpp"
#include "linear/solvers/newton_passes.hpp"
#include "linear/solvers/normal_matrix.hpp"
#include "rows/passes.hpp"

namespace pegasos {

namespace {

/// Of the rows of a block at their z: loss, slope and second derivative.
struct Block {
    double z[pass_rows], y[pass_rows], value[pass_rows], slope[pass_rows], bend[pass_rows];

    template <class Loss>
    void measure(const Loss& loss, std::size_t n) {
        for (std::size_t p = 0; p < n; ++p) {
            value[p] = loss.value(z[p], y[p]);
            slope[p] = loss.slope(z[p], y[p]);
            if constexpr (requires { loss.bend(z[p], y[p]); }) bend[p] = loss.bend(z[p], y[p]);
        }
    }
    /// In vector instructions: log(1 + e) is that of the rounded sum, and what was rounded off.
    void measure(const LogLoss&, std::size_t n) {
        for (std::size_t p = 0; p < n; ++p) {
            const double e = fast_exp(-std::abs(z[p])), sum = 1 + e, rare = e / sum;
            value[p] = fast_log(sum) + (e - (sum - 1)) / sum + std::max(-z[p], 0.0);
            slope[p] = z[p] < 0 ? 1 / sum : rare;
            bend[p] = rare / sum;
        }
    }
};

class Newton final : private NewtonPasses {
public:
    Newton(const Problem& problem, const NewtonOptions& options, Context& context)
        : NewtonPasses(problem.dimension(), problem.n_penalized(), {1, 1e-6, 0}, options, context),
          problem_(problem),
          z_(problem.n_rows()),
          D_(problem.n_rows()),
          parts_(context.team.size()) {
        context.team.run([&](std::size_t k) { parts_[k].sum.resize(d_); });
        if (options.exact) matrix_.emplace(problem, context);
    }

    Solution run(const Start& start) {
        if (!start.w.empty()) w_ = start.w;
        return NewtonPasses::run(!start.w.empty(), start.t);
    }

private:
    struct alignas(128) Part {
        Sum losses;
        std::vector<double> sum;
    };

    double gap_of(const std::vector<double>& g) const override {
        const double half = NewtonPasses::gap_of(g);
        return problem_.free_intercept ? half + std::abs(w_.back() * g.back()) : half;
    }

    /// Calls look(rows, part, first, last) for all rows, with the part's sum at zero; then out = R v + the
    /// sums times `factor`.
    template <class Look>
    void sum_rows(const std::vector<double>& v, double factor, std::vector<double>& out, Look look) {
        context_.team.run([&](std::size_t k) {
            parts_[k].losses = {};
            std::fill(parts_[k].sum.begin(), parts_[k].sum.end(), 0.0);
        });
        pass_over(problem_.n_rows(), context_.team, context_.monitor,
                  [&](std::size_t k, std::size_t first, std::size_t last) {
                      return problem_.rows.visit([&](const auto& rows) {
                          std::size_t work = 0;
                          for (std::size_t i = first; i < last; ++i) {
                              if (i + pass_rows < rows.n_rows) rows.prefetch_row(i + pass_rows);
                              work += rows.entries(i) + 16;
                          }
                          look(rows, parts_[k], first, last);
                          return work;
                      });
                  });
        for (std::size_t j = 0; j < d_; ++j) {
            double sum = 0;
            for (const Part& part : parts_) sum += part.sum[j];
            out[j] = factor * sum + (j < problem_.n_penalized() ? v[j] : 0);
        }
    }

    /// z, D, F and g at w.
    void evaluate() override {
        sum_rows(w_, -1, g_, [&](const auto& rows, Part& part, std::size_t first, std::size_t last) {
            Block block;
            const std::size_t n = last - first;
            for (std::size_t p = 0; p < n; ++p) {
                block.y[p] = problem_.labels[first + p];
                block.z[p] = z_[first + p] = problem_.sign(first + p) * rows.dot(first + p, w_.data());
            }
            problem_.loss.visit([&](const auto& loss) { block.measure(loss, n); });
            for (std::size_t p = 0, i = first; p < n; ++p, ++i) {
                const double cost = problem_.C * problem_.weights[i];
                D_[i] = cost * block.bend[p];
                if (cost == 0) continue;
                part.losses.add(cost * block.value[p]);
                if (block.slope[p] != 0)
                    rows.add(i, problem_.sign(i) * cost * block.slope[p], part.sum.data());
            }
        });
        Sum losses;
        for (const Part& part : parts_) losses.add(part.losses.value());
        value_ = squared_norm(w_, problem_.n_penalized()) / 2 + losses.value();
    }

    /// D with the share m of the chord, where the loss has one.
    void add_chords() {
        problem_.loss.visit([&](const auto& loss) {
            if constexpr (requires { loss.chord(0.0, 0.0); })
                for (std::size_t i = 0; i < z_.size(); ++i) {
                    const double cost = problem_.C * problem_.weights[i];
                    D_[i] += share_ * (cost * loss.chord(z_[i], problem_.labels[i]) - D_[i]);
                }
        });
    }

    void find_direction() override {
        add_chords();
        if (!matrix_) return conjugate_gradients();
        matrix_->clear();
        context_.team.run([&](std::size_t k) {
            if (k >= matrix_->adders()) return;
            const std::size_t n = problem_.n_rows(), end = n * (k + 1) / matrix_->adders();
            for (std::size_t first = n * k / matrix_->adders(); first < end && !context_.team.failed();) {
                const std::size_t last = std::min(first + block_rows, end);
                matrix_->add(
                    k, first, last, [](std::size_t i) { return i; }, [&](std::size_t i) { return D_[i]; });
                if (k == 0) context_.monitor.worked((last - first) * d_);
                first = last;
            }
        });
        matrix_->join();
        matrix_->solver().factor();
        matrix_->solver().solve(g_, direction_);
        for (double& x : direction_) x = -x;
    }

    void multiply(const std::vector<double>& v, std::vector<double>& out) override {
        sum_rows(v, 1, out, [&](const auto& rows, Part& part, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i)
                if (D_[i] > 0) rows.add(i, D_[i] * rows.dot(i, v.data()), part.sum.data());
        });
    }

    void find_diagonal(std::vector<double>& out) override {
        const std::vector<double> ones(d_, 1.0);
        sum_rows(ones, 1, out, [&](const auto& rows, Part& part, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i)
                if (D_[i] > 0)
                    rows.for_each(i, [&](std::size_t j, double x) { part.sum[j] += D_[i] * x * x; });
        });
    }

    void remember() override { from_ = z_; }

    /// Without the rows: z at `from` and at from + direction are known.
    double slope_at(double t, const std::vector<double>& from) override {
        Sum first, square, losses;
        for (std::size_t j = 0; j < n_penalized_; ++j) {
            first.add(from[j] * direction_[j]);
            square.add(direction_[j] * direction_[j]);
        }
        problem_.loss.visit([&](const auto& loss) {
            for (std::size_t i = 0; i < z_.size(); ++i) {
                const double dz = z_[i] - from_[i], cost = problem_.C * problem_.weights[i];
                losses.add(-cost * dz * loss.slope(from_[i] + t * dz, problem_.labels[i]));
            }
        });
        return first.value() + t * square.value() + losses.value();
    }

    Bounds check(Solution& solution) override {
        DualPoint point;
        const auto slopes = [&](std::size_t first, std::size_t last, const double* z, double* q) {
            problem_.loss.visit([&](const auto& loss) {
                for (std::size_t i = first; i < last; ++i)
                    q[i - first] = loss.slope(z[i - first], problem_.labels[i]);
            });
        };
        const Bounds now =
            LinearPass(problem_, w_, context_).bounds(point, slopes, options_.tol, context_.monitor);
        solution.take(context_, static_cast<double>(iterations_), now, w_, std::move(point.q));
        return now;
    }

    const Problem& problem_;
    std::optional<NormalMatrix> matrix_;
    std::vector<double> z_, from_, D_;
    std::vector<Part> parts_;
};

}  // namespace

Solution solve_newton(const Problem& problem, const NewtonOptions& options, const Start& start,
                      Context& context) {
    const bool smooth =
        problem.loss.visit([](const auto& loss) { return requires { loss.bend(0.0, 0.0); }; });
    if (!smooth) throw std::invalid_argument("newton supports losses without corners alone");
    return Newton(problem, options, context).run(start);
}

}  // namespace pegasos
