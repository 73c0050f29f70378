// clang-format off
// Stochastic sub-gradient descent on f(w) = lambda/2 ||w||^2 + 1/m sum_i loss(y_i <w, x_i>)   (S0 eq. 1)
//
//   A_t        a batch of k rows
//   v_t      = 1/k sum_{i in A_t} slope_i y_i x_i         minus a sub-gradient of the batch's loss (S0 eq. 8)
//   w_{t+1}  = (1 - eta_t lambda) w_t + eta_t v_t         (S0 Fig. 2)
//   w_{t+1} <- min(1, r / ||w_{t+1}||) w_{t+1}            optional, r^2 = C sum_i s_i loss(0) >= ||w*||^2 (S0 eq. 6)
//
// The step sizes eta_t make the algorithm: pegasos.hpp, norma.hpp, constant_step.hpp. With weights s_i the slope of
// row i counts m s_i / sum(s) times, so that v_t stays unbiased.
//
// A step costs O(k d) for rows of d entries, projection and averaging included, whatever m is. Checks of the
// bounds (certificate.hpp), one pass over the rows each, are made after epoch 1 and then ever more rarely.
// clang-format on
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "losses.hpp"
#include "monitor.hpp"
#include "random.hpp"
#include "sampling.hpp"
#include "scaled_vector.hpp"
#include "solution.hpp"

namespace pegasos {

enum class Output { last, average, suffix, random_stop };

struct SubgradientOptions {
    std::uint64_t batch = 1;
    bool project = false;
    double radius = 0;             // of the ball to project onto; 0: the one that must contain the optimum
    bool count_idle_steps = true;  // false: t does not advance on a step without violation (S2 section 4.5)
    Output output = Output::last;
    std::uint64_t random_stops = 1;  // draws of the stopping time, for Output::random_stop (S0 Lemma 3)
    std::uint64_t stop_sample = 0;   // rows to compare the stops on; 0: all
    std::uint64_t max_steps = 1;
    double tol = 0;
    std::uint64_t seed = 0;
};

template <class Loss, class Rows, class Schedule>
class Subgradient {
public:
    Subgradient(const Problem<Rows>& problem, const Schedule& schedule, const SubgradientOptions& options,
                Sampler& sampler, Context& context)
        : problem_(problem),
          schedule_(schedule),
          options_(options),
          sampler_(sampler),
          context_(context),
          monitor_(context.monitor),
          radius_(options.radius > 0 ? options.radius
                                     : std::sqrt(problem.C * problem.total_weight * Loss::value(0))),
          step_weight_(static_cast<double>(problem.rows.n_rows) /
                       (static_cast<double>(options.batch) * problem.total_weight)),
          w_(problem.dimension(), options.output == Output::average || options.output == Output::suffix),
          block_(options.batch * std::max<std::uint64_t>(1, 1024 / options.batch)),
          certifier_(problem, context.team, context.monitor) {
        visited_.reserve(problem.rows.n_rows);
        for (std::size_t i = 0; i < problem.rows.n_rows; ++i)
            visited_.push_back({problem.labels[i] * problem.weights[i]});
        violators_.reserve(options.batch);
    }

    Solution run(Start start) {
        t_ = start.t + 1;
        if (!start.w.empty()) w_.assign(start.w);
        certifier_.resume(std::move(start.q));
        std::uint64_t budget = options_.max_steps;
        if (options_.output == Output::random_stop) budget = draw_stops();

        Solution solution;
        solution.reason = options_.output == Output::random_stop ? "random_stop" : "budget";
        std::uint64_t next_epoch = 1;
        Bounds bounds{};
        for (;;) {
            const std::uint64_t next_check = steps_in(next_epoch);
            const bool alive = advance(std::min({budget, next_check, next_snapshot(), next_stop()}));
            if (steps_ == next_snapshot()) take_snapshot();
            while (steps_ == next_stop()) try_stop();
            const bool last = !alive || steps_ == budget;
            if (!alive) solution.reason = "max_time";
            if (steps_ == next_check || last) {
                solution.w = output(last);
                bounds = certifier_.check(solution.w, visited_);
                solution.record(context_, epochs(), bounds);
                const bool reached = options_.tol > 0 && bounds.gap() <= options_.tol;
                if (reached) solution.reason = "tol";
                if (reached || last) break;
                next_epoch = next_check_after(next_epoch, bounds.gap());
            }
        }
        solution.bounds = bounds;
        solution.q = certifier_.take_dual();
        solution.t = t_ - 1;
        solution.steps = steps_;
        solution.epochs = epochs();
        solution.seconds = monitor_.seconds();
        return solution;
    }

private:
    struct Violator {
        RowNumber row;
        double slope;  // times y_i s_i
    };
    struct Snapshot {
        std::uint64_t steps;
        std::vector<double> sum;
    };
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::size_t far = 32, near = 16;  // prefetch distances, in rows

    double epochs() const {
        return static_cast<double>(steps_ * options_.batch) / static_cast<double>(problem_.rows.n_rows);
    }
    // The gap falls about as 1 / epochs, which tells when it may reach tol; never before a third, never after
    // twice the epochs so far, so that checks stay a small part of the whole and a fit runs on for little
    // longer than it must.
    std::uint64_t next_check_after(std::uint64_t epoch, double gap) const {
        const double growth = options_.tol > 0 ? std::clamp(gap / options_.tol, 4.0 / 3, 2.0) : 2;
        std::uint64_t next =
            std::max(epoch + 1, static_cast<std::uint64_t>(static_cast<double>(epoch) * growth));
        while (steps_in(next) <= steps_) ++next;  // a batch may hold several epochs
        return next;
    }
    std::uint64_t steps_in(std::uint64_t epochs) const {
        return (epochs * problem_.rows.n_rows + options_.batch - 1) / options_.batch;
    }

    /// Makes steps until `steps_ == target`; false when the time is up.
    bool advance(std::uint64_t target) {
        while (steps_ < target) {
            const std::uint64_t count =
                std::min<std::uint64_t>(target - steps_, block_.size() / options_.batch);
            const std::span<RowNumber> block(block_.data(), count * options_.batch);
            sampler_.fill(block);
            monitor_.at_epoch(epochs());
            for (std::size_t at = 0; at < block.size(); at += options_.batch)
                if (!step(block, at)) return false;
        }
        return true;
    }

    /// Minus a sub-gradient at the margin z: the loss's, unless the algorithm has a rule of its own.
    static double slope_of(double z) {
        if constexpr (requires { Schedule::slope(z); })
            return Schedule::slope(z);
        else
            return Loss::slope(z);
    }

    /// One step on the batch at block[at], block[at + 1], ...; false, and no step, when the time is up.
    bool step(std::span<const RowNumber> block, std::size_t at) {
        const Rows& rows = problem_.rows;
        violators_.clear();
        for (std::size_t p = at; p < at + options_.batch; ++p) {
            if (p + far < block.size()) {
                rows.prefetch_start(block[p + far]);
                prefetch(&visited_[block[p + far]]);
            }
            if (p + near < block.size()) rows.prefetch_row(block[p + near]);
            const RowNumber i = block[p];
            Visited& row = visited_[i];
            const double slope = slope_of(row.label() * w_.dot(rows, i));
            ++row.visits;
            row.slopes += static_cast<float>(slope);
            if (slope != 0) violators_.push_back({i, slope * row.signed_weight});
            if (monitor_.worked(rows.entries(i))) return false;
        }
        const auto [eta, shrink] = schedule_(t_);
        w_.accumulate();
        w_.scale(shrink);
        for (const auto& [i, slope] : violators_) {
            w_.add(rows, i, eta * step_weight_ * slope);
            if (options_.batch > 1)
                monitor_.worked(rows.entries(i));  // a long batch must hear an interrupt here too
        }
        if (options_.project) w_.project(radius_);
        if (options_.count_idle_steps || !violators_.empty()) ++t_;
        ++steps_;
        return true;
    }

    /// The vector to check, or at the end to return.
    std::vector<double> output(bool last) {
        if (options_.output == Output::random_stop && last && !best_stop_.empty()) return best_stop_;
        const bool mean_wanted = options_.output == Output::average || options_.output == Output::suffix;
        if (!mean_wanted || steps_ == 0) return w_.value();
        std::vector<double> mean = w_.sum_of_iterates();
        const Snapshot* from = nullptr;
        for (const auto& snapshot : snapshots_)
            if (snapshot.steps * 2 <= steps_) from = &snapshot;
        const double count = static_cast<double>(steps_ - (from ? from->steps : 0));
        for (std::size_t j = 0; j < mean.size(); ++j) mean[j] = (mean[j] - (from ? from->sum[j] : 0)) / count;
        return mean;
    }

    // Suffix averaging: the mean of w_{s+1}, ..., w_T, s the largest power of two with 2 s <= T. So at any
    // time the last half to three quarters of the iterates count, and O(size) work is done only when T
    // doubles.
    std::uint64_t next_snapshot() const { return options_.output == Output::suffix ? snapshot_at_ : never; }
    void take_snapshot() {
        if (snapshots_.size() == 2) snapshots_.erase(snapshots_.begin());
        snapshots_.push_back({steps_, w_.sum_of_iterates()});
        snapshot_at_ *= 2;
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
    std::uint64_t next_stop() const { return stops_.empty() ? never : stops_.back(); }
    void try_stop() {
        stops_.pop_back();
        std::vector<double> w = w_.value();
        const double primal = sampled_primal(w);
        if (primal < best_stop_primal_ || best_stop_.empty()) {
            best_stop_primal_ = primal;
            best_stop_ = std::move(w);
        }
    }
    double sampled_primal(const std::vector<double>& w) {
        const Rows& rows = problem_.rows;
        Random random(options_.seed ^ 0x5a3e);
        const std::size_t count = options_.stop_sample ? options_.stop_sample : rows.n_rows;
        Sum loss;
        for (std::size_t r = 0; r < count; ++r) {
            const std::size_t i = options_.stop_sample ? random.below(rows.n_rows) : r;
            loss.add(problem_.weights[i] * Loss::value(problem_.labels[i] * rows.dot(i, w.data())));
            monitor_.worked(rows.entries(i));
        }
        const double scale = static_cast<double>(rows.n_rows) / static_cast<double>(count);
        return squared_norm(w) / 2 + problem_.C * loss.value() * scale;
    }

    const Problem<Rows>& problem_;
    const Schedule schedule_;
    const SubgradientOptions options_;
    Sampler& sampler_;
    Context& context_;
    Monitor& monitor_;
    const double radius_, step_weight_;
    ScaledVector w_;
    std::vector<RowNumber> block_;
    std::vector<Visited> visited_;
    std::vector<Violator> violators_;
    Certifier<Loss, Rows> certifier_;
    std::vector<Snapshot> snapshots_;
    std::vector<std::uint64_t> stops_;
    std::vector<double> best_stop_;
    double best_stop_primal_ = 0;
    std::uint64_t t_ = 1, steps_ = 0, snapshot_at_ = 1;
};

}  // namespace pegasos
