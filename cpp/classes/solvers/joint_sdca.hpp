// clang-format off
// SDCA on all classes jointly: dual coordinate ascent, a row's K variables at a time (Crammer and Singer 2001; Keerthi
// and others 2008; Shalev-Shwartz and Zhang 2016 for the log loss). See multiclass.hpp for the problem and its dual.
//
//   visit row i:  f = x_i W,   p_i <- argmax g(p) + <f, p> - a/2 ||p - p_i||^2 over the simplex,
//                 W <- W - C s_i x_i' (change of p_i)
//
// W is U of the present p, so that the scores met during an epoch estimate the duality gap, a sum over rows, for
// nothing. When that estimate promises `tol`, or after epochs 64, 128, ... (without tol 1, 2, 4, ...), it is
// computed in full, with U computed afresh: that pass is the certificate.
//
// Rest, order and intercept are as in sdca.hpp: a row that would change nothing, or next to nothing, is left out for a
// number of epochs, which the loss chooses by how far the others are from a maximum (root mean square); the intercepts
// are found by the method of multipliers, with a b for each class.
//
// Unless tol is small, W is of floats, which halves what a visit reads: it is U only up to rounding, until a check
// computes it again. The certificate does not depend on it.
//
// The threads of the team share the checks.
// clang-format on
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/solution.hpp"
#include "classes/joint_certificate.hpp"
#include "linear/visits.hpp"

namespace pegasos {

struct JointSdcaOptions {
    static constexpr double coarse = 1e-5;  // the smallest tol for which W is of floats

    bool shrink = true;
    bool blocks = true;  // false: a plain permutation
    double tol = 0;
    double max_epochs = 1;
    std::uint64_t seed = 0;
};

template <class Loss, class Rows, class Real>
class JointSdca {
public:
    JointSdca(const JointProblem<Rows>& problem, const JointSdcaOptions& options, Context& context)
        : problem_(problem),
          options_(options),
          context_(context),
          stride_(padded(problem.n_classes)),
          W_(problem.dimension(), problem.n_classes),
          p_(problem.rows.n_rows * stride_),
          rows_(problem.rows.n_rows),
          visits_(problem.rows.n_rows, options.blocks, options.seed),
          b_(stride_) {
        context.team.run_ranges(rows_.size(), [&](std::size_t, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                const std::uint32_t y = problem.labels[i];
                rows_[i] = {problem.C * problem.weights[i], problem.rows.squared_norm(i), 0, y, y};
                p_[i * stride_ + y] = 1;
                if (rows_[i].bound == 0) visits_.leave_out(i);
            }
        });
    }

    /// `sequence`: the visits of the only epoch, with the intercepts as any other weight.
    Solution run(const Start& start, const std::vector<RowNumber>& sequence) {
        if (!start.q.empty()) resume(start.q);
        if (problem_.rows.bias > 0) set_up_intercepts(start.w, sequence.empty());
        const double n_rows = static_cast<double>(rows_.size());
        Solution solution;
        std::uint32_t next_record = options_.tol > 0 ? 64 : 1;
        double gap_before = 0, factor = 0.9;
        for (;;) {
            if (sequence.empty())
                visits_.make_order(options_.max_epochs * n_rows - made_);
            else
                visits_.set_order(sequence);
            calm_.assign(visits_.order().size(), 0.0f);
            const Stats stats = make_epoch();
            visits_.end_epoch();
            made_ += stats.visits;
            move_intercepts();
            if (options_.shrink) send_to_rest(stats);
            const bool out_of_time = context_.monitor.timed_out();
            const bool last = out_of_time || !sequence.empty() || made_ >= options_.max_epochs * n_rows;
            // The scores met are half an epoch old, on average.
            const double expected =
                stats.gap * (stats.gap < gap_before ? std::sqrt(stats.gap / gap_before) : 1);
            gap_before = stats.gap;
            const bool promising =
                options_.tol > 0 && factor * expected + mismatch() <= options_.tol * dual_now();
            if (last || promising || visits_.epochs() == next_record) {
                while (visits_.epochs() >= next_record) next_record *= 2;
                const Bounds now = check(solution);
                const char* end = out_of_time ? "max_time" : last ? "budget" : nullptr;
                if (const char* reason = solution.bounds.reason(options_.tol, end)) {
                    solution.reason = reason;
                    break;
                }
                const double without = now.primal - now.dual - mismatch();
                if (expected > 0) factor = std::clamp(1.1 * without / expected, 0.5, 10.0);
            }
        }
        solution.epochs = made_ / n_rows;
        solution.steps = static_cast<std::uint64_t>(made_);
        solution.t = start.t + solution.steps;
        solution.seconds = context_.monitor.seconds();
        return solution;
    }

private:
    struct Stats {
        double gap = 0;  // estimate, from the scores met
        double visits = 0;
        double violation = 0;  // sum of squares
    };
    static constexpr std::size_t far = 16, near = 8;  // prefetch distances, in rows

    double* p(std::size_t i) { return &p_[i * stride_]; }

    /// Starts from a dual point; what is not in the simplex is brought there.
    void resume(const std::vector<double>& q) {
        const std::size_t K = problem_.n_classes;
        Loss loss(problem_.cost, K);
        AlignedVector<double> d(stride_);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            JointRow& row = rows_[i];
            double* mine = p(i);
            double sum = 0;
            for (std::size_t k = 0; k < K; ++k) sum += mine[k] = std::max(q[i * K + k], 0.0);
            if (!(sum > 0)) sum = mine[row.label] = 1;
            row.vertex = JointRow::none;
            for (std::size_t k = 0; k < K; ++k) {
                mine[k] /= sum;
                d[k] = (k == row.label) - mine[k];
                if (mine[k] == 1) row.vertex = static_cast<std::uint32_t>(k);
            }
            row.dual = loss.dual(mine, row.label);
            if (row.vertex != row.label) W_.add(problem_.rows, i, row.bound, d.data());
        }
    }

    void set_up_intercepts(const std::vector<double>& start_w, bool multipliers) {
        const double bias = problem_.rows.bias, n_rows = static_cast<double>(rows_.size());
        double sum = 0;
        for (const JointRow& row : rows_) sum += row.square - bias * bias;
        kappa_ = 0;
        step_ = bias * bias;
        if (multipliers) {
            const double rho = std::max(std::clamp(10 / n_rows, 0.1, 1.0) * (sum > 0 ? sum / n_rows : 1),
                                        4 / (problem_.C * problem_.total_weight));
            kappa_ = bias * bias / (bias * bias + rho);
            step_ = kappa_ * rho;
        }
        slope_ = (step_ - bias * bias) / bias;
        for (JointRow& row : rows_) row.square += step_ - bias * bias;
        if (start_w.empty()) return;
        const std::size_t K = problem_.n_classes;
        for (std::size_t k = 0; k < K; ++k) b_[k] = bias * start_w[start_w.size() - K + k];
    }

    /// b <- what scores are computed with now.
    void move_intercepts() {
        if (!(problem_.rows.bias > 0)) return;
        const Real* last = W_.row(problem_.rows.n_features);
        for (std::size_t k = 0; k < stride_; ++k)
            b_[k] = kappa_ * b_[k] + step_ * static_cast<double>(last[k]) / problem_.rows.bias;
    }

    /// What the gap has because the intercepts are not yet those of p: 1/2 ||b/B - B sigma||^2.
    double mismatch() const {
        if (!(problem_.rows.bias > 0)) return 0;
        const Real* last = W_.row(problem_.rows.n_features);
        double sum = 0;
        for (std::size_t k = 0; k < stride_; ++k) {
            const double d = b_[k] / problem_.rows.bias - static_cast<double>(last[k]);
            sum += d * d;
        }
        return sum / 2;
    }

    void send_to_rest(const Stats& stats) {
        const double usual = std::sqrt(stats.violation / stats.visits);
        for (std::size_t at = 0; at < visits_.order().size(); ++at)
            if (calm_[at] > 0) visits_.rest(visits_.order()[at], Loss::rest(calm_[at], usual));
    }

    Stats make_epoch() {
        const Rows& rows = problem_.rows;
        Monitor& monitor = context_.monitor;
        monitor.at_epoch(made_ / static_cast<double>(rows.n_rows));
        Stats stats;
        const std::vector<RowNumber>& order = visits_.order();
        if (order.empty() || monitor.look()) return stats;
        Loss loss(problem_.cost, problem_.n_classes);
        AlignedVector<double> f(stride_), shift(stride_);
        for (std::size_t k = 0; k < stride_; ++k) shift[k] = kappa_ * b_[k];
        const Real* last = W_.row(rows.n_features);
        const bool intercepts = kappa_ > 0;
        for (std::size_t at = 0; at < order.size(); ++at) {
            if (at + far < order.size()) {
                const RowNumber ahead = order[at + far];
                rows.prefetch_start(ahead);
                prefetch(&rows_[ahead]);
            }
            if (at + near < order.size()) {
                const RowNumber ahead = order[at + near];
                rows.prefetch_row(ahead);
                prefetch_span(p(ahead), p(ahead) + stride_, 8);
            }
            const RowNumber i = order[at];
            JointRow& row = rows_[i];
            W_.scores(rows, i, f.data());
            if (intercepts)
                for (std::size_t k = 0; k < stride_; ++k)
                    f[k] += shift[k] + slope_ * static_cast<double>(last[k]);
            const Visit visit = loss.visit(f.data(), row, p(i), row.bound * row.square);
            stats.gap += row.bound * visit.gap;
            stats.violation += visit.violation * visit.violation;
            stats.visits += 1;
            calm_[at] = static_cast<float>(visit.calm);
            if (visit.changed) {
                if (visit.all)
                    W_.add(rows, i, -row.bound, loss.change());
                else
                    W_.add(rows, i, -row.bound, loss.changes());
            }
            if (monitor.worked(rows.entries(i) * stride_ / 8)) break;
        }
        return stats;
    }

    /// The dual value, but for rounding.
    double dual_now() const {
        double linear = 0, square = 0;
        for (const JointRow& row : rows_) linear += row.bound * row.dual;
        const Real* values = W_.values().data();
        const std::size_t size = W_.values().size();
#pragma omp simd reduction(+ : square)
        for (std::size_t j = 0; j < size; ++j)
            square += static_cast<double>(values[j]) * static_cast<double>(values[j]);
        return linear - square / 2;
    }

    /// Bounds now; the solution keeps the best of each. W is computed afresh from p.
    Bounds check(Solution& solution) {
        const Rows& rows = problem_.rows;
        ClassMatrix<double> W(problem_.dimension(), problem_.n_classes);
        std::copy(W_.values().begin(), W_.values().end(), W.values().begin());
        if (rows.bias > 0)
            for (std::size_t k = 0; k < stride_; ++k) W.row(rows.n_features)[k] = b_[k] / rows.bias;
        DualPoint point;
        const auto slope = [&](std::size_t i, Loss& loss, const double* f, double* out) {
            const JointRow& row = rows_[i];
            std::copy_n(p(i), stride_, out);
            if (row.vertex == JointRow::none || !visits_.rests(i)) return;
            const double top = loss.value(f, row.label) + f[row.label];
            if (top > f[row.vertex] + row.dual) visits_.wake(i);  // its rest was too long
        };
        const Bound primal =
            evaluate_jointly<Loss>(problem_, W, context_.team, context_.monitor, point, slope);
        Bounds now = between(primal, point.value());
        std::copy(point.u.begin(), point.u.end(), W_.values().begin());
        if (now.wants_care(options_.tol) && !context_.monitor.timed_out())
            look_closely_jointly<Loss>(problem_, W, context_.team, context_.monitor, point, now);
        if (solution.history.empty()) solution.bounds = Bounds::none();
        if (solution.bounds.lower(now)) solution.w = W.flat();
        if (solution.bounds.raise(now)) {
            solution.q = std::move(point.q);
            swap_sign(solution.q, problem_.labels, problem_.n_classes);
        }
        solution.record(context_, made_ / static_cast<double>(rows.n_rows), solution.bounds);
        return now;
    }

    const JointProblem<Rows>& problem_;
    const JointSdcaOptions options_;
    Context& context_;
    const std::size_t stride_;
    ClassMatrix<Real> W_;
    AlignedVector<double> p_;
    std::vector<JointRow> rows_;
    Visits visits_;
    std::vector<float> calm_;  // of the rows visited
    std::vector<double> b_;    // intercepts
    double kappa_ = 0, step_ = 0, slope_ = 0;
    double made_ = 0;
};

}  // namespace pegasos
