// clang-format off
// Stochastic sub-gradient descent on f(w) = lambda/2 ||w||^2 + 1/m sum_i loss(y_i <w, x_i>)   (S0 eq. 1; losses.hpp)
//
//   A_t        a batch of k rows
//   v_t      = 1/k sum_{i in A_t} slope_i y_i x_i         minus a sub-gradient of the batch's loss (S0 eq. 8)
//   w_{t+1}  = (1 - eta_t lambda) w_t + eta_t v_t         (S0 Fig. 2)
//   w_{t+1} <- min(1, r / ||w_{t+1}||) w_{t+1}            optional, r^2 = C sum_i s_i loss(0) >= ||w*||^2 (S0 eq. 6)
//
// Losses whose slopes have no bound (the squared ones) would make the first steps, of size 1/lambda, overshoot ever
// further. For them t begins at max_i m s_i / sum(s) curvature ||x_i||^2 / lambda, from where on a step is a descent.
//
// The step sizes eta_t make the algorithm: schedules.hpp. With weights s_i the slope of
// row i counts m s_i / sum(s) times, so that v_t stays unbiased.
//
// A free intercept b is kept beside w, out of its norm, its shrinking and its projection; margins are
// y_i (<w, x_i> + b). It is found in one of the ways of S0 section 6:
//   subgradient   b_{t+1} = b_t + eta'_t 1/k sum_{i in A_t} slope_i y_i,   eta'_t = min(eta_t, 1/sqrt(t))
//   batch         b_t minimises the loss of A_t (best_intercept.hpp), whose slopes then make v_t. A batch of one class
//                 is passed over. What is returned with w is the b that minimises the loss of all rows
//   fixed         b stays as it is: the outer search over b runs this. Its dual points are
//                 mixed with one of another b, at which the loss had the opposite slope in b
//
// A step costs O(k d) for rows of d entries, projection and averaging included, whatever m is. Checks of the
// bounds (certificate.hpp), one pass over the rows each, are made after epoch 1 and then ever more rarely.
// clang-format on
#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/best_intercept.hpp"
#include "base/random.hpp"
#include "linear/certificate.hpp"
#include "linear/scaled_vector.hpp"
#include "linear/solvers/solve.hpp"
#include "rows/passes.hpp"

namespace pegasos {

namespace {

class Subgradient final : private Iterates {
public:
    Subgradient(const Problem& problem, const SubgradientOptions& options, Sampler& sampler, Context& context)
        : Iterates(options, problem.n_rows(), sampler, context),
          problem_(problem),
          options_(options),
          radius_(options.radius > 0 ? options.radius : std::sqrt(loss_at_zero())),
          step_weight_(static_cast<double>(problem.n_rows()) /
                       (static_cast<double>(options.batch) * problem.total_weight)),
          features_(options.intercept == Intercept::in_w ? problem.rows : problem.rows.without_constant()),
          w_(problem.dimension(), is_mean(options.output)),
          visited_(not_visited(problem)),
          responses_(options.batch),
          certifier_(context.monitor) {
        violators_.reserve(options.batch);
    }

    Solution run(Start start) {
        t_ = std::max(start.t, first_t()) + 1;
        if (!start.w.empty()) {
            if (options_.intercept != Intercept::in_w) b_ = std::exchange(start.w.back(), 0.0);
            w_.assign(start.w);
        }
        certifier_.resume(std::move(start.q));
        counterweights_ = std::move(start.counterweights);
        const bool stops = options_.output == Output::random_stop;
        Solution solution =
            Iterates::run(stops ? draw_stops() : options_.max_steps, stops ? "random_stop" : "budget");
        solution.q = certifier_.take_dual();
        solution.t = t_ - 1;
        return solution;
    }

private:
    struct Violator {
        RowNumber row;
        double slope;  // times y_i s_i
    };
    std::uint64_t make_steps(std::span<const RowNumber> block) override {
        return features_.visit([&](const auto& rows) {
            return problem_.loss.is<Hinge>() ? make_steps(rows, Hinge{}, block)
                                             : make_steps(rows, problem_.loss, block);
        });
    }

    /// A step for each batch of the block; how many were made before the time was up.
    template <class Rows, class Loss>
    std::uint64_t make_steps(const Rows& rows, const Loss& loss, std::span<const RowNumber> block) {
        std::size_t at = 0;
        while (at < block.size() && step(rows, loss, block, at)) at += options_.batch;
        return at / options_.batch;
    }

    /// The loss of w = 0: no less than half the squared norm of the optimum.
    double loss_at_zero() const {
        Sum sum;
        for (std::size_t i = 0; i < problem_.n_rows(); ++i)
            sum.add(problem_.weights[i] * problem_.loss.value(0, problem_.labels[i]));
        return problem_.C * sum.value();
    }

    /// The steps to leave out, because they would overshoot.
    std::uint64_t first_t() const {
        if (problem_.loss.curvature == 0) return 0;
        double largest = 0;
        problem_.rows.visit([&](const auto& rows) {
            for (std::size_t i = 0; i < rows.n_rows; ++i)
                largest = std::max(largest, problem_.weights[i] * rows.squared_norm(i));
        });
        const double scale = static_cast<double>(problem_.n_rows()) / problem_.total_weight;
        const double t = std::ceil(problem_.loss.curvature * scale * largest / problem_.lambda());
        return static_cast<std::uint64_t>(std::min(t, 1e18));
    }

    /// Minus a sub-gradient: the loss's, unless the algorithm has a rule of its own.
    template <class Loss>
    double slope_of(const Loss& loss, double z, RowNumber i) const {
        if (options_.schedule.kind == Schedule::Kind::perceptron) return z <= 0;
        return loss.slope(z, problem_.labels[i]);
    }

    /// One step on the batch at block[at], block[at + 1], ...; false, and no step, when the time is up.
    template <class Rows, class Loss>
    [[gnu::always_inline]] bool step(const Rows& rows, const Loss& loss, std::span<const RowNumber> block,
                                     std::size_t at) {
        for (std::size_t p = at; p < at + options_.batch; ++p) {
            prefetch_ahead(rows, block.data(), p, block.size(), visited_.data());
            responses_[p - at] = w_.dot(rows, block[p]);
            if (monitor_.worked(rows.entries(block[p]))) return false;
        }
        const std::span<const RowNumber> batch = block.subspan(at, options_.batch);
        w_.accumulate();
        sum_of_b_ += b_;
        if (!find_violators(loss, batch)) return true;
        const auto [eta, shrink] = options_.schedule(t_);
        w_.scale(shrink);
        double b_slope = 0;
        for (const auto& [i, slope] : violators_) {
            w_.add(rows, i, eta * step_weight_ * slope);
            b_slope += slope;
            if (options_.batch > 1)
                monitor_.worked(rows.entries(i));  // a long batch must hear an interrupt here too
        }
        if (options_.intercept == Intercept::subgradient)
            b_ += std::min(eta, 1 / std::sqrt(static_cast<double>(t_))) * step_weight_ * b_slope;
        if (options_.project) w_.project(radius_);
        if (options_.count_idle_steps || !violators_.empty()) ++t_;
        return true;
    }

    /// The rows of the batch with a slope, from their responses; false where the batch makes no step.
    template <class Loss>
    [[gnu::always_inline]] bool find_violators(const Loss& loss, std::span<const RowNumber> batch) {
        violators_.clear();
        const bool best = options_.intercept == Intercept::batch;
        BestIntercept found;
        if (best) {
            kinks_.clear();
            for (std::size_t p = 0; p < batch.size(); ++p) kinks_.push_back(kink(batch[p], responses_[p]));
            found = best_intercept(kinks_);
            if (!found.exists) return false;
            b_ = found.b;
        }
        for (std::size_t p = 0; p < batch.size(); ++p) {
            Visited& row = visited_[batch[p]];
            const double slope = best ? found.slope(kink(batch[p], responses_[p]))
                                      : slope_of(loss, row.label() * (responses_[p] + b_), batch[p]);
            ++row.visits;
            row.slopes += static_cast<float>(slope);
            if (slope != 0) violators_.push_back({batch[p], slope * row.signed_weight});
        }
        return true;
    }

    Kink kink(RowNumber i, double response) const {
        return {visited_[i].label() - response, visited_[i].signed_weight};
    }

    /// w, and where it is kept beside w the intercept.
    std::vector<double> iterate() const override { return with_intercept(w_.value(), b_); }
    std::vector<double> sum_of_iterates() const override {
        return with_intercept(w_.sum_of_iterates(), sum_of_b_);
    }
    std::vector<double> with_intercept(std::vector<double> w, double b) const {
        if (options_.intercept != Intercept::in_w) w.back() = b;
        return w;
    }

    /// The mean slope of each row since the last check, 0 for rows not met. Sums of slopes are in single
    /// precision, in which the bounds of a slope may not be numbers: 0.1 would be above itself.
    std::vector<double> mean_slopes() const {
        std::vector<double> q;
        q.reserve(visited_.size());
        for (const Visited& row : visited_)
            q.push_back(row.visits ? problem_.loss.clip(row.slopes / static_cast<double>(row.visits)) : 0.0);
        return q;
    }

    /// The derivative of C sum_i s_i loss_i in b by these slopes, divided by C sum(s).
    double intercept_slope(const std::vector<double>& q) const {
        Sum slope;
        for (std::size_t i = 0; i < q.size(); ++i) slope.add(visited_[i].signed_weight * q[i]);
        return -slope.value() / problem_.total_weight;
    }

    /// The bounds at w. At a fixed intercept balancing a dual point may cost much of it, so there it is also
    /// mixed with one met beyond the best intercept, such that little is left to balance.
    Bounds check(const std::vector<double>& w, Solution& solution) override {
        const LinearPass pass(problem_, w, context_);
        if (options_.intercept == Intercept::fixed) {
            solution.met = mean_slopes();
            solution.intercept_slope = intercept_slope(solution.met);
        }
        Bounds bounds = pass.check(certifier_, visited_, options_.tol);
        if (options_.intercept != Intercept::fixed) return bounds;
        for (const auto& other : counterweights_) {
            const double here = solution.intercept_slope, there = intercept_slope(other);
            if (!(here * there < 0)) continue;
            const double share = here / (here - there);
            std::vector<double> mixed = solution.met;
            for (std::size_t i = 0; i < mixed.size(); ++i)
                mixed[i] = problem_.loss.clip(mixed[i] + share * (other[i] - mixed[i]));
            const Bound dual = certifier_.include(pass, mixed);
            bounds.dual = dual.value;
            bounds.below = dual.rounding;
        }
        return bounds;
    }

    /// The intercept that goes best with these weights, on all rows; the one there where there is none.
    double best_intercept_of_all(const std::vector<double>& w) {
        std::vector<Kink> kinks(problem_.n_rows());
        pass_over(problem_.n_rows(), context_.team, monitor_,
                  [&](std::size_t, std::size_t first, std::size_t last) {
                      RowFacts facts[pass_rows];
                      return read_rows(features_, first, last, facts, [&](const auto& rows, std::size_t i) {
                          kinks[i] = kink(static_cast<RowNumber>(i), rows.dot(i, w.data()));
                      });
                  });
        const BestIntercept found = best_intercept(kinks);
        return found.exists ? found.b : w.back();
    }

    std::vector<double> output(bool last) override {
        std::vector<double> w = last && !best_stop_.empty() ? best_stop_ : Iterates::output(last);
        if (options_.intercept == Intercept::batch) w.back() = best_intercept_of_all(w);
        return w;
    }

    void state(State& state) override {
        state(w_, b_, sum_of_b_, certifier_, stops_, best_stop_, best_stop_primal_, t_);
        state.array(visited_.data(), visited_.size());
    }

    // Random stopping time: w_t for `random_stops` values of t drawn from {1, ..., T}; the one of lowest
    // primal wins.
    std::uint64_t draw_stops() {
        Random random(options_.seed ^ 0x5709);
        for (std::uint64_t r = 0; r < options_.random_stops; ++r)
            stops_.push_back(random.below(options_.max_steps));
        std::sort(stops_.begin(), stops_.end(), std::greater<>());
        return stops_.front();
    }
    std::uint64_t next_stop() const override { return stops_.empty() ? never : stops_.back(); }
    void stop() override {
        stops_.pop_back();
        std::vector<double> w = iterate();
        const double primal = sampled_primal(w);
        if (primal < best_stop_primal_ || best_stop_.empty()) {
            best_stop_primal_ = primal;
            best_stop_ = std::move(w);
        }
    }
    double sampled_primal(const std::vector<double>& w) {
        Random random(options_.seed ^ 0x5a3e);
        const std::size_t count = options_.stop_sample ? options_.stop_sample : problem_.n_rows();
        Sum loss;
        problem_.rows.visit([&](const auto& rows) {
            for (std::size_t r = 0; r < count; ++r) {
                const std::size_t i = options_.stop_sample ? random.below(rows.n_rows) : r;
                const double z = problem_.sign(i) * rows.dot(i, w.data());
                loss.add(problem_.weights[i] * problem_.loss.value(z, problem_.labels[i]));
                monitor_.worked(rows.entries(i));
            }
        });
        const double scale = static_cast<double>(problem_.n_rows()) / static_cast<double>(count);
        return squared_norm(w, problem_.n_penalized()) / 2 + problem_.C * loss.value() * scale;
    }

    const Problem& problem_;
    const SubgradientOptions options_;
    const double radius_, step_weight_;
    const AnyRows features_;  // the rows; without the constant feature where the intercept is beside w
    ScaledVector w_;
    double b_ = 0, sum_of_b_ = 0;
    std::vector<Visited> visited_;
    std::vector<double> responses_;  // of the batch, <w, x_i>
    std::vector<Kink> kinks_;
    std::vector<Violator> violators_;
    Certifier certifier_;
    std::vector<std::vector<double>> counterweights_;
    std::vector<std::uint64_t> stops_;
    std::vector<double> best_stop_;
    double best_stop_primal_ = 0;
    std::uint64_t t_ = 1;
};

}  // namespace

Solution solve_subgradient(const Problem& problem, SubgradientOptions options, Sampler& sampler,
                           const Start& start, Context& context) {
    const bool pegasos = options.schedule.kind == Schedule::Kind::pegasos;
    if (problem.free_intercept != (options.intercept != Intercept::in_w))
        throw std::invalid_argument("the intercept is free, or it is in w");
    if (!pegasos) problem.refuse_free_intercept();
    if (!problem.loss.is<Hinge>() && options.intercept == Intercept::batch)
        throw std::invalid_argument("the best intercept of a batch is known for the hinge loss alone");
    if (!problem.loss.is<Hinge>() && !pegasos)
        throw std::invalid_argument("step sizes other than those of Pegasos support the hinge loss alone");
    options.schedule.lambda = problem.lambda();
    return Subgradient(problem, options, sampler, context).run(start);
}

}  // namespace pegasos
