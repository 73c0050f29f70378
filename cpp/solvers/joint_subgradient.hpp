// clang-format off
// Pegasos on all classes jointly (S0 section 5), on f(W) = lambda/2 ||W||^2 + 1/m sum_i l(x_i W, y_i):
//
//   A_t        a batch of k rows
//   V_t      = 1/k sum_{i in A_t} x_i' (e_{y_i} - p_i)    minus a sub-gradient of the batch's loss, p_i in its simplex
//   W_{t+1}  = (1 - 1/t) W_t + 1/(lambda t) V_t
//   W_{t+1} <- min(1, r / ||W_{t+1}||) W_{t+1}            optional, r^2 = C sum_i s_i l(0, y_i) >= ||W*||^2
//
// With weights s_i the slope of row i counts m s_i / sum(s) times. Outputs and the times of checks are as in
// subgradient.hpp; W = a V and the sum of iterates are kept as in scaled_vector.hpp.
// clang-format on
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "joint_certificate.hpp"
#include "sampling.hpp"
#include "solution.hpp"
#include "solvers/subgradient.hpp"

namespace pegasos {

struct JointSubgradientOptions {
    std::uint64_t batch = 1;
    bool project = false;
    Output output = Output::last;
    std::uint64_t max_steps = 1;
    double tol = 0;
};

/// W = a V, its norm where it is `tracked`, and where it `sums` the sum of iterates A V + U.
class ScaledClasses {
public:
    ScaledClasses(std::size_t n_rows, std::size_t n_classes, bool tracked, bool sums)
        : V_(n_rows, n_classes), U_(sums ? n_rows : 0, n_classes), tracked_(tracked), f_(V_.stride()) {}

    void assign(const std::vector<double>& flat) {
        V_.assign(flat);
        a_ = 1;
        refresh_norm();
    }

    template <class Rows>
    void scores(const Rows& rows, std::size_t i, double* f) const {
        V_.scores(rows, i, f);
        for (std::size_t k = 0; k < V_.stride(); ++k) f[k] *= a_;
    }

    void scale(double factor) {
        a_ *= factor;
        norm2_ *= factor * factor;
        error_ *= factor * factor;
        if (std::abs(a_) < (U_.values().empty() ? smallest : smallest_summed)) rebase();
    }

    /// W <- W + c x_i' d
    template <class Rows>
    void add(const Rows& rows, std::size_t i, double c, const double* d) {
        if (tracked_) {
            scores(rows, i, f_.data());
            double along = 0, square = 0;
            for (std::size_t k = 0; k < V_.stride(); ++k) {
                along += f_[k] * d[k];
                square += d[k] * d[k];
            }
            const double cross = 2 * c * along, own = c * c * square * rows.squared_norm(i);
            norm2_ += cross + own;
            error_ += 4 * epsilon * (std::abs(cross) + own + std::abs(norm2_));
        }
        V_.add_nonzero(rows, i, c / a_, d);
        if (!U_.values().empty()) U_.add_nonzero(rows, i, -sum_of_scales_ * c / a_, d);
        if (error_ > 1e-9 * norm2_) refresh_norm();
    }

    /// W <- min(1, radius / ||W||) W
    void project(double radius) {
        if (norm2_ > radius * radius) scale(radius / std::sqrt(norm2_));
    }

    /// Adds the present W to the sum of iterates.
    void accumulate() { sum_of_scales_ += a_; }

    void value(ClassMatrix<double>& out) const {
        for (std::size_t j = 0; j < V_.values().size(); ++j) out.values()[j] = a_ * V_.values()[j];
    }
    void sum_of_iterates(ClassMatrix<double>& out) const {
        for (std::size_t j = 0; j < V_.values().size(); ++j)
            out.values()[j] = sum_of_scales_ * V_.values()[j] + U_.values()[j];
    }

private:
    static constexpr double epsilon = std::numeric_limits<double>::epsilon();
    static constexpr double smallest = 1e-100, smallest_summed = 1e-4;  // see ScaledVector

    void refresh_norm() {
        if (!tracked_) return;
        double sum = 0;
        for (const double x : V_.values()) sum += x * x;
        norm2_ = a_ * a_ * sum;
        error_ = epsilon * norm2_;
    }

    void rebase() {
        for (std::size_t j = 0; j < U_.values().size(); ++j)
            U_.values()[j] += sum_of_scales_ * V_.values()[j];
        for (double& x : V_.values()) x *= a_;
        sum_of_scales_ = 0;
        a_ = 1;
        refresh_norm();
    }

    ClassMatrix<double> V_, U_;
    bool tracked_;
    AlignedVector<double> f_;
    double a_ = 1, norm2_ = 0, error_ = 0, sum_of_scales_ = 0;
};

template <class Loss, class Rows>
class JointSubgradient {
public:
    JointSubgradient(const JointProblem<Rows>& problem, const JointSubgradientOptions& options,
                     Sampler& sampler, Context& context)
        : problem_(problem),
          options_(options),
          sampler_(sampler),
          context_(context),
          monitor_(context.monitor),
          stride_(padded(problem.n_classes)),
          loss_(problem.cost, problem.n_classes),
          W_(problem.dimension(), problem.n_classes, options.project,
             options.output == Output::average || options.output == Output::suffix),
          block_(options.batch * std::max<std::uint64_t>(1, 1024 / options.batch)),
          f_(stride_),
          d_(options.batch * stride_),
          slopes_(problem.rows.n_rows, problem.n_classes),
          certifier_(problem, context.team, context.monitor) {
        Sum square;
        for (std::size_t i = 0; i < problem.rows.n_rows; ++i)
            square.add(problem.weights[i] * loss_.at_zero(problem.labels[i]));
        radius_ = std::sqrt(problem.C * square.value());
    }

    Solution run(const Start& start) {
        t_ = start.t + 1;
        if (!start.w.empty()) W_.assign(start.w);
        Solution solution;
        solution.reason = "budget";
        std::uint64_t next_epoch = 1;
        ClassMatrix<double> W(problem_.dimension(), problem_.n_classes);
        for (;;) {
            const std::uint64_t next_check = steps_in(next_epoch);
            const bool alive = advance(std::min({options_.max_steps, next_check, next_snapshot()}));
            if (steps_ == next_snapshot()) take_snapshot();
            const bool last = !alive || steps_ == options_.max_steps;
            if (!alive) solution.reason = "max_time";
            if (steps_ == next_check || last) {
                output(W);
                solution.bounds = certifier_.check(W, slopes_);
                solution.record(context_, epochs(), solution.bounds);
                const bool reached = options_.tol > 0 && solution.bounds.gap() <= options_.tol;
                if (reached) solution.reason = "tol";
                if (reached || last) break;
                next_epoch = next_check_after(next_epoch, solution.bounds.gap());
            }
        }
        solution.w = W.flat();
        solution.q = certifier_.take_dual();
        solution.t = t_ - 1;
        solution.steps = steps_;
        solution.epochs = epochs();
        solution.seconds = monitor_.seconds();
        return solution;
    }

private:
    struct Snapshot {
        std::uint64_t steps;
        ClassMatrix<double> sum;
    };
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::size_t far = 16, near = 8;  // prefetch distances, in rows

    double epochs() const {
        return static_cast<double>(steps_ * options_.batch) / static_cast<double>(problem_.rows.n_rows);
    }
    std::uint64_t steps_in(std::uint64_t epochs) const {
        return (epochs * problem_.rows.n_rows + options_.batch - 1) / options_.batch;
    }
    std::uint64_t next_check_after(std::uint64_t epoch, double gap) const {
        const double growth = options_.tol > 0 ? std::clamp(gap / options_.tol, 4.0 / 3, 2.0) : 2;
        std::uint64_t next =
            std::max(epoch + 1, static_cast<std::uint64_t>(static_cast<double>(epoch) * growth));
        while (steps_in(next) <= steps_) ++next;  // a batch may hold several epochs
        return next;
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

    /// One step on the batch at block[at], block[at + 1], ...; false, and no step, when the time is up.
    bool step(std::span<const RowNumber> block, std::size_t at) {
        const Rows& rows = problem_.rows;
        for (std::size_t b = at; b < at + options_.batch; ++b) {
            if (b + far < block.size()) rows.prefetch_start(block[b + far]);
            if (b + near < block.size()) rows.prefetch_row(block[b + near]);
            W_.scores(rows, block[b], f_.data());
            loss_.slope(f_.data(), problem_.labels[block[b]], &d_[(b - at) * stride_]);
            if (monitor_.worked(rows.entries(block[b]) * stride_ / 8)) return false;
        }
        W_.accumulate();
        ++steps_;
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

    /// The matrix to check, or at the end to return.
    void output(ClassMatrix<double>& W) const {
        if (options_.output == Output::last || steps_ == 0) return W_.value(W);
        W_.sum_of_iterates(W);
        const Snapshot* from = nullptr;
        for (const auto& snapshot : snapshots_)
            if (snapshot.steps * 2 <= steps_) from = &snapshot;
        const double count = static_cast<double>(steps_ - (from ? from->steps : 0));
        for (std::size_t j = 0; j < W.values().size(); ++j)
            W.values()[j] = (W.values()[j] - (from ? from->sum.values()[j] : 0)) / count;
    }

    std::uint64_t next_snapshot() const { return options_.output == Output::suffix ? snapshot_at_ : never; }
    void take_snapshot() {
        if (snapshots_.size() == 2) snapshots_.erase(snapshots_.begin());
        snapshots_.push_back({steps_, {problem_.dimension(), problem_.n_classes}});
        W_.sum_of_iterates(snapshots_.back().sum);
        snapshot_at_ *= 2;
    }

    const JointProblem<Rows>& problem_;
    const JointSubgradientOptions options_;
    Sampler& sampler_;
    Context& context_;
    Monitor& monitor_;
    const std::size_t stride_;
    Loss loss_;
    ScaledClasses W_;
    double radius_ = 0;
    std::vector<RowNumber> block_;
    AlignedVector<double> f_, d_;  // scores of a row, slopes of the batch
    Slopes slopes_;
    JointCertifier<Loss, Rows> certifier_;
    std::vector<Snapshot> snapshots_;
    std::uint64_t t_ = 1, steps_ = 0, snapshot_at_ = 1;
};

}  // namespace pegasos
