// OCAS: the optimised cutting-plane algorithm (Franc and Sonnenburg 2008, 2009), which S0 and S3 compare
// with; without its line search the cutting-plane algorithm CPA, which is SVM-Perf's (Joachims 2006).
//
//   minimise F(w) = 1/2 ||w||^2 + C R(w),   R(w) = sum_i s_i max(0, 1 - y_i <w, x_i>)
//
// R is the maximum of planes, one for each choice of errors (planes.hpp). An iteration t
//   1. adds the plane of R at the point w^c_t, which is 0 or where an earlier run ended at first;
//   2. solves the reduced problem, which has the planes so far in place of R: w_t and its value D_t <=
//   optimum;
//   3. goes from the best point w^b so far towards w_t, as far as pays:
//        w^b_t = w^b + k (w_t - w^b),   k = argmin_{k >= 0} F(w^b + k (w_t - w^b));
//   4. chooses the next w^c = w^b_t + mu (w_t - w^b_t), mu = 0.1.
// CPA has w^c = w_t, and of w^b it only remembers the best w_t.
//
// F(w^b_t) - D_t is the gap, and known in each iteration: the shares of the planes are a dual point. A pass
// of its own, which allows for rounding, is made where that promises `tol`, and now and then (checks.hpp).
//
// Line search: with z the margins at w^b and dz their change, the derivative of F along the line,
//   <w^b, d> + k ||d||^2 - C sum_{i: z_i + k dz_i < 1} s_i dz_i,    d = w_t - w^b,
// grows with k, and by C s_i |dz_i| at the breakpoints k_i = (1 - z_i) / dz_i > 0. The root is found by
// halves: the median breakpoint tells on which side it is. That takes time linear in the rows, and no sorting
// of all of them.
//
// Margins of w^b and w^c are those of w_t and of earlier points joined as the points are. So an iteration
// reads all rows once, for the margins at w_t, and those with an error at w^c once more, to add them up. It
// counts as an epoch. Both are shared among the threads.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/checks.hpp"
#include "linear/certificate.hpp"
#include "linear/solvers/planes.hpp"
#include "linear/solvers/solve.hpp"
#include "rows/passes.hpp"

namespace pegasos {

namespace {

/// A function of k >= 0 that begins at `start`, grows by `curvature` per unit and by jumps.
class Derivative {
public:
    Derivative(double start, double curvature) : value_(start), curvature_(curvature) {}

    void jump(double k, double by) { jumps_.push_back({k, by}); }

    /// Where it passes through zero.
    double root() {
        if (!(value_ < 0)) return 0;
        auto first = jumps_.begin(), last = jumps_.end();
        double value = value_;  // at 0, with the jumps before `first`
        while (first != last) {
            const auto middle = first + (last - first) / 2;
            std::nth_element(first, middle, last, [](const Jump& a, const Jump& b) { return a.k < b.k; });
            double before = value;
            for (auto at = first; at != middle; ++at) before += at->by;
            const double here = before + curvature_ * middle->k;
            if (here >= 0) {
                last = middle;
            } else if (here + middle->by >= 0) {
                return middle->k;
            } else {
                value = before + middle->by;
                first = middle + 1;
            }
        }
        return curvature_ > 0 ? std::max(-value / curvature_, 0.0) : 0;
    }

private:
    struct Jump {
        double k, by;
    };
    double value_, curvature_;
    std::vector<Jump> jumps_;
};

class Ocas {
public:
    Ocas(const Problem& problem, const OcasOptions& options, Context& context)
        : problem_(problem),
          options_(options),
          context_(context),
          planes_(problem.dimension(), context.team, context.monitor),
          checks_(options.tol, 1, 16, false),
          best_w_(problem.dimension()),
          best_z_(problem.n_rows()),
          z_(problem.n_rows()) {}

    Solution run(const Start& start) {
        Solution solution;
        const auto state = [&](State& state) { pass_state(state, solution); };
        begin(start);
        context_.resume(state);
        until_ended(solution, [&] {
            for (;;) {
                context_.offer(state);
                context_.monitor.at_epoch(static_cast<double>(iterations_));
                iterate();
                const double gap = best_ - planes_.dual();
                const bool out_of_time = context_.monitor.look(), stuck = is_stuck(),
                           last = out_of_time || stuck || iterations_ >= options_.max_iterations;
                checks_.met(gap);
                if (last || checks_.due(planes_.dual())) {
                    const Bounds now = check(solution);
                    if (!solution.reason.empty() || solution.ends(options_.tol, out_of_time, last, stuck))
                        break;
                    checks_.found(now.primal - now.dual);
                }
                choose_next();
            }
        });
        solution.finish(context_, static_cast<double>(iterations_), iterations_, start.t);
        return solution;
    }

private:
    static constexpr double mu = 0.1;
    // Margins that are 1 but for rounding: at w_t they are those of rows in which planes in use differ.
    static constexpr double corner = 1e-12;
    static constexpr std::uint64_t patience = 20;  // iterations in which neither bound moves

    /// Between two iterations.
    void pass_state(State& state, Solution& solution) {
        state(solution, planes_, checks_, best_, smallest_, idle_, iterations_);
        state(best_w_, best_z_, z_);
    }

    /// At the weights of an earlier run, with its dual point for a plane.
    void begin(const Start& start) {
        if (!start.w.empty()) {
            best_w_ = start.w;
            find_margins(best_w_, best_z_);
        }
        best_ = objective();
        z_ = best_z_;
        if (start.q.empty()) return;
        Plane plane;
        plane.q = start.q;
        for (double& q : plane.q) q = problem_.loss.clip(q);
        add(std::move(plane));
    }

    void iterate() {
        Plane plane;
        plane.errors = RowMarks(problem_.n_rows());
        for (std::size_t i = 0; i < problem_.n_rows(); ++i)
            if (z_[i] < 1 - corner && problem_.weights[i] > 0) plane.errors.set(i);
        add(std::move(plane));
        planes_.solve();
        find_margins(planes_.w(), z_);
        if (options_.line_search)
            search_line();
        else
            compare();
        ++iterations_;
    }

    /// Sums the rows of a plane, and takes it.
    void add(Plane plane) {
        struct alignas(128) Part {
            std::vector<double> a;
            Sum b;
        };
        std::vector<Part> parts(context_.team.size());
        context_.team.run([&](std::size_t k) { parts[k].a.resize(problem_.dimension()); });
        pass_over(problem_.n_rows(), context_.team, context_.monitor,
                  [&](std::size_t k, std::size_t first, std::size_t last) {
                      return problem_.rows.visit([&](const auto& rows) {
                          std::size_t work = 0;
                          for (std::size_t i = first; i < last; ++i) {
                              const double cost = problem_.C * problem_.weights[i] * plane.at(i);
                              if (cost == 0) continue;
                              parts[k].b.add(cost);
                              rows.add(i, problem_.sign(i) * cost, parts[k].a.data());
                              work += rows.entries(i);
                          }
                          return work;
                      });
                  });
        Sum b;
        plane.a = std::move(parts[0].a);
        for (std::size_t k = 0; k < parts.size(); ++k) {
            b.add(parts[k].b.value());
            for (std::size_t j = 0; k > 0 && j < plane.a.size(); ++j) plane.a[j] += parts[k].a[j];
        }
        plane.b = b.value();
        planes_.add(std::move(plane));
    }

    void find_margins(const std::vector<double>& w, std::vector<double>& z) {
        constexpr std::size_t ahead = 16;  // rows on their way from memory
        pass_over(problem_.n_rows(), context_.team, context_.monitor,
                  [&](std::size_t, std::size_t first, std::size_t last) {
                      return problem_.rows.visit([&](const auto& rows) {
                          std::size_t work = 0;
                          for (std::size_t i = first; i < last; ++i) {
                              if (i + ahead < rows.n_rows) rows.prefetch_row(i + ahead);
                              z[i] = problem_.sign(i) * rows.dot(i, w.data());
                              work += rows.entries(i) + 16;
                          }
                          return work;
                      });
                  });
    }

    /// F at the best point, from its margins.
    double objective() const { return objective(best_w_, best_z_); }
    double objective(const std::vector<double>& w, const std::vector<double>& z) const {
        Sum losses;
        for (std::size_t i = 0; i < z.size(); ++i)
            if (z[i] < 1) losses.add(problem_.weights[i] * (1 - z[i]));
        return squared_norm(w) / 2 + problem_.C * losses.value();
    }

    /// Step 3.
    void search_line() {
        const std::vector<double>& w = planes_.w();
        Sum slope, square;
        for (std::size_t j = 0; j < w.size(); ++j) {
            const double d = w[j] - best_w_[j];
            slope.add(best_w_[j] * d);
            square.add(d * d);
        }
        for (std::size_t i = 0; i < z_.size(); ++i) {
            const double dz = z_[i] - best_z_[i];
            if (best_z_[i] < 1 || (best_z_[i] == 1 && dz < 0))
                slope.add(-problem_.C * problem_.weights[i] * dz);
        }
        Derivative derivative(slope.value(), square.value());
        for (std::size_t i = 0; i < z_.size(); ++i) {
            const double dz = z_[i] - best_z_[i], left = 1 - best_z_[i];
            if (left * dz > 0 && problem_.weights[i] > 0)
                derivative.jump(left / dz, problem_.C * problem_.weights[i] * std::abs(dz));
        }
        const double k = derivative.root();
        if (k == 0) return;
        for (std::size_t j = 0; j < w.size(); ++j) best_w_[j] += k * (w[j] - best_w_[j]);
        for (std::size_t i = 0; i < z_.size(); ++i) best_z_[i] += k * (z_[i] - best_z_[i]);
        best_ = objective();
    }

    /// What CPA has in its place.
    void compare() {
        const double value = objective(planes_.w(), z_);
        if (!(value < best_)) return;
        best_ = value;
        best_w_ = planes_.w();
        best_z_ = z_;
    }

    /// Step 4.
    void choose_next() {
        if (options_.line_search)
            for (std::size_t i = 0; i < z_.size(); ++i) z_[i] = best_z_[i] + mu * (z_[i] - best_z_[i]);
    }

    /// Whether rounding is all that moves the bounds.
    bool is_stuck() {
        const double gap = best_ - planes_.dual();
        idle_ = gap < smallest_ - 8 * unit * best_ ? 0 : idle_ + 1;
        smallest_ = std::min(smallest_, gap);
        return idle_ >= patience;
    }

    Bounds check(Solution& solution) {
        DualPoint point;
        const auto slopes = [&](std::size_t first, std::size_t last, const double*, double* q) {
            planes_.slopes(first, last, q);
        };
        const Bounds now =
            LinearPass(problem_, best_w_, context_).bounds(point, slopes, options_.tol, context_.monitor);
        solution.take(context_, static_cast<double>(iterations_), now, best_w_, std::move(point.q));
        return now;
    }

    const Problem& problem_;
    const OcasOptions options_;
    Context& context_;
    Planes planes_;
    Checks checks_;
    std::vector<double> best_w_, best_z_;                        // w^b and its margins
    std::vector<double> z_;                                      // the margins of w_t, then those of w^c
    double best_ = 0;                                            // F(w^b)
    double smallest_ = std::numeric_limits<double>::infinity();  // gap
    std::uint64_t idle_ = 0, iterations_ = 0;
};

}  // namespace

Solution solve_ocas(const Problem& problem, const OcasOptions& options, const Start& start,
                    Context& context) {
    if (!problem.loss.is<Hinge>()) throw std::invalid_argument("ocas supports the hinge loss alone");
    problem.refuse_free_intercept();
    return Ocas(problem, options, context).run(start);
}

}  // namespace pegasos
