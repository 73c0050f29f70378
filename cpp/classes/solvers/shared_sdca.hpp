// SDCA on several classes at once, each against the rest: sdca.hpp's problem and steps for every class, with
// one pass over the rows for all of them.
//
//   visit row i:  f = x_i W, the scores of all classes;   of each class k, with z = +-f_k,
//                 q_ik <- the best one,   w_k <- w_k +- C s_i (change of q_ik) x_i
//
// The numbers of all classes lie side by side (class_matrix.hpp), so that scores, steps and the gap of each
// class, estimated from the margins met, are vector instructions over the classes. Variables are kept as q, a
// share of the cost C s_i, for which the losses' steps are those of a cost of 1.
//
// A class whose estimate promises `tol` is checked in full, by a pass in double precision that serves all
// that are checked; to spare passes, not before half of the classes at work promise it. Classes that hold
// `tol` leave, the others close ranks. A row rests when it would change in no class, for as long as the first
// of them would have it rest in sdca.hpp. What is left after some epochs is handed over to sdca.hpp, which
// knows which rows may rest for each class.
//
// Order and intercepts are as in sdca.hpp, with a multiplier b for each class. Unless tol is small, W and q
// are of floats; the certificate does not depend on W, and q is what it is whatever its precision.
//
// One thread: several groups of classes are for several.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "base/solution.hpp"
#include "classes/class_matrix.hpp"
#include "classes/class_steps.hpp"
#include "classes/shared_certificate.hpp"
#include "linear/losses.hpp"
#include "linear/visits.hpp"

namespace pegasos {

struct SharedSdcaOptions {
    static constexpr double coarse = 1e-5;  // the smallest tol for which W and q are of floats

    std::size_t first = 0, last = 0;  // the classes to train
    bool shrink = true;
    bool blocks = false;  // false: a plain permutation
    double tol = 0;
    double max_epochs = 1;
    double shared_epochs = 1;  // what is left after so many is handed over
    bool keep_points = false;  // dual points of classes that reached tol
    std::uint64_t seed = 0;
};

/// Told of the checks of each class, by its number.
using ClassReport = std::function<void(std::size_t, const Record&)>;

template <class Loss, class Rows, class Real>
class SharedSdca {
public:
    SharedSdca(const Loss& loss, const ClassProblems<Rows>& problems, const SharedSdcaOptions& options,
               Context& context, ClassReport report)
        : loss_(loss),
          problems_(problems),
          problem_(problems.common),
          options_(options),
          context_(context),
          report_(std::move(report)),
          W_(problem_.dimension(), options.last - options.first),
          q_(problem_.rows.n_rows * W_.stride()),
          rows_(problem_.rows.n_rows),
          visits_(problem_.rows.n_rows, options.blocks, options.seed),
          solutions_(options.last - options.first) {
        for (std::size_t k = options.first; k < options.last; ++k) classes_.push_back({k});
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            rows_[i] = {problem_.C * problem_.weights[i], problem_.rows.squared_norm(i)};
            if (rows_[i].cost == 0) visits_.leave_out(i);
        }
        number_columns();
    }

    /// `sequence`: the visits of the only epoch, with the intercepts as any other weight.
    std::vector<Solution> run(const std::vector<RowNumber>& sequence) {
        if (problem_.rows.bias > 0) set_up_intercepts(sequence.empty());
        const double n_rows = static_cast<double>(rows_.size());
        std::uint32_t next_record = options_.tol > 0 ? 16 : 1;
        while (!classes_.empty()) {
            if (sequence.empty())
                visits_.make_order(options_.max_epochs * n_rows - made_);
            else
                visits_.set_order(sequence);
            calm_.assign(visits_.order().size(), 0.0f);
            make_epoch();
            visits_.end_epoch();
            if (options_.shrink) send_to_rest();
            const char* end = nullptr;  // why all classes end
            if (context_.monitor.timed_out())
                end = "max_time";
            else if (!sequence.empty() || made_ >= options_.max_epochs * n_rows)
                end = "budget";
            else if (made_ >= options_.shared_epochs * n_rows)
                end = "handed_over";
            const bool all = end || visits_.epochs() == next_record;
            while (visits_.epochs() >= next_record) next_record *= 2;
            const std::vector<std::size_t> chosen = choose_for_check(all);
            if (chosen.empty()) continue;
            check(chosen);
            leave(end);
        }
        return std::move(solutions_);
    }

private:
    struct Row {
        double cost, square;  // C s_i, ||x_i||^2
    };
    struct Class {
        std::size_t number;
        double b = 0, linear = 0, gap_before = 0, factor = 0.9, expected = 0, inverse_usual = 0;
        bool reached = false, wants_care = false;
    };
    static constexpr std::size_t far = 16, near = 8;  // prefetch distances, in rows
    static constexpr double longest_rest = 255;

    Solution& solution(const Class& c) { return solutions_[c.number - options_.first]; }
    Real* q(std::size_t i) { return &q_[i * W_.stride()]; }

    void number_columns() {
        const std::size_t size = std::max<std::size_t>(
            options_.last, *std::max_element(problems_.labels.begin(), problems_.labels.end()) + 1);
        column_.assign(size, no_column);
        for (std::size_t k = 0; k < classes_.size(); ++k)
            column_[classes_[k].number] = static_cast<std::uint32_t>(k);
    }

    void set_up_intercepts(bool multipliers) {
        const double bias = problem_.rows.bias, n_rows = static_cast<double>(rows_.size());
        double rho = std::numeric_limits<double>::infinity();
        if (multipliers) {
            double sum = 0;
            for (const Row& row : rows_) sum += row.square - bias * bias;
            rho = std::max(std::clamp(10 / n_rows, 0.01, 1.0) * (sum > 0 ? sum / n_rows : 1),
                           4 / (problem_.C * problem_.total_weight));
        }
        kappa_ = bias * bias / (bias * bias + rho);
        step_ = std::isinf(rho) ? bias * bias : kappa_ * rho;
        slope_ = (step_ - bias * bias) / bias;
        for (Row& row : rows_) row.square += step_ - bias * bias;
    }

    /// The visits of the order, and what they tell of each class.
    void make_epoch() {
        const Rows& rows = problem_.rows;
        Monitor& monitor = context_.monitor;
        const std::size_t K = classes_.size(), stride = W_.stride();
        monitor.at_epoch(made_ / static_cast<double>(rows.n_rows));
        AlignedVector<double> f(stride), shift(stride), usual(stride), gap(stride), violation(stride),
            linear(stride), change(stride), best(stride);
        const auto loss = loss_for_loops(loss_);
        ClassSteps<Loss> steps(loss_, stride);
        for (std::size_t k = 0; k < K; ++k) {
            shift[k] = kappa_ * classes_[k].b;
            usual[k] = classes_[k].inverse_usual;
        }
        const Real* last = W_.row(rows.n_features);
        const std::vector<RowNumber>& order = visits_.order();
        double visited = 0;
        monitor.look();
        for (std::size_t at = 0; at < order.size() && !monitor.timed_out(); ++at) {
            if (at + far < order.size()) {
                rows.prefetch_start(order[at + far]);
                prefetch(&rows_[order[at + far]]);
            }
            if (at + near < order.size()) {
                const RowNumber ahead = order[at + near];
                rows.prefetch_row(ahead);
                prefetch_span(q(ahead), q(ahead) + K, 8);
            }
            const RowNumber i = order[at];
            W_.scores(rows, i, f.data());
            if (kappa_ > 0)
                for (std::size_t k = 0; k < K; ++k) f[k] += shift[k] + slope_ * static_cast<double>(last[k]);
            const std::uint32_t mine = column_[problems_.labels[i]];
            for (std::size_t k = 0; k < K; ++k) f[k] = -f[k];
            if (mine != no_column) f[mine] = -f[mine];
            const double cost = rows_[i].cost, size = cost * rows_[i].square;
            Real* shares = q(i);
            steps.ascend(K, f.data(), shares, size, best.data());
            double calm = longest_rest, most = 0;
#pragma omp simd reduction(min : calm) reduction(max : most)
            for (std::size_t k = 0; k < K; ++k) {
                const double z = f[k], before = shares[k];
                const double dual = loss.dual(before, 1, 1);
                gap[k] += cost * (loss.value(z, 1) - dual + before * z);
                const Pull pull = loss.pull(before, 1, z, 1);
                violation[k] += pull.projected * pull.projected;
                calm = std::min(calm, pull.outward * usual[k]);
                const Real next = std::abs(pull.projected) > 1e-14 ? static_cast<Real>(best[k]) : shares[k];
                shares[k] = next;
                linear[k] += cost * (loss.dual(next, 1, 1) - dual);
                change[k] = before - static_cast<double>(next);
                most = std::max(most, std::abs(change[k]));
            }
            calm_[at] = static_cast<float>(calm);
            if (most > 0) {
                if (mine != no_column) change[mine] = -change[mine];
                W_.add_nonzero(rows, i, cost, change.data());
            }
            visited += 1;
            monitor.worked(rows.entries(i) * stride / 8);
        }
        made_ += visited;
        for (std::size_t k = 0; k < K; ++k) {
            Class& c = classes_[k];
            c.linear += linear[k];
            if (rows.bias > 0) c.b = kappa_ * c.b + step_ * static_cast<double>(last[k]) / rows.bias;
            if (violation[k] > 0) c.inverse_usual = std::sqrt(visited / violation[k]);
            // The margins met are half an epoch old, on average.
            c.expected = gap[k] * (gap[k] < c.gap_before ? std::sqrt(gap[k] / c.gap_before) : 1);
            c.gap_before = gap[k];
        }
    }

    void send_to_rest() {
        for (std::size_t at = 0; at < visits_.order().size(); ++at)
            if (calm_[at] > 0) visits_.rest(visits_.order()[at], std::min(2.0 * calm_[at], longest_rest));
    }

    /// What the gap has because the intercept is not yet that of q: 1/2 (b/B - B sigma)^2.
    double mismatch(std::size_t k) const {
        if (!(problem_.rows.bias > 0)) return 0;
        const double d =
            classes_[k].b / problem_.rows.bias - static_cast<double>(W_.row(problem_.rows.n_features)[k]);
        return d * d / 2;
    }

    /// The columns to check: all, or those that promise tol, once they are half of them.
    std::vector<std::size_t> choose_for_check(bool all) const {
        const std::size_t K = classes_.size();
        std::vector<std::size_t> chosen;
        AlignedVector<double> square(W_.stride());
        if (!all)
            for (std::size_t j = 0; j < problem_.dimension(); ++j)
                for (std::size_t k = 0; k < W_.stride(); ++k)
                    square[k] += static_cast<double>(W_.row(j)[k]) * static_cast<double>(W_.row(j)[k]);
        for (std::size_t k = 0; k < K; ++k) {
            const Class& c = classes_[k];
            if (all || (options_.tol > 0 &&
                        c.factor * c.expected + mismatch(k) <= options_.tol * (c.linear - square[k] / 2)))
                chosen.push_back(k);
        }
        if (2 * chosen.size() < K) chosen.clear();
        return chosen;
    }

    /// Bounds of some columns now; their solutions keep the best of each. W is computed afresh from q.
    void check(const std::vector<std::size_t>& chosen) {
        const Rows& rows = problem_.rows;
        const std::size_t d = problem_.dimension();
        ClassMatrix<double> W(d, chosen.size()), U(d, chosen.size());
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t k = 0; k < chosen.size(); ++k)
                W.row(j)[k] = static_cast<double>(W_.row(j)[chosen[k]]);
        std::vector<std::uint32_t> columns(column_.size(), no_column);
        for (std::size_t k = 0; k < chosen.size(); ++k) {
            const Class& c = classes_[chosen[k]];
            columns[c.number] = static_cast<std::uint32_t>(k);
            if (rows.bias > 0) W.row(rows.n_features)[k] = c.b / rows.bias;
        }
        const auto share = [&](std::size_t i, std::size_t k, double z) {
            if (rows_[i].cost == 0) return 0.0;
            const double mine = static_cast<double>(q(i)[chosen[k]]);
            if (visits_.rests(i) && loss_.pull(mine, 1, z, 1).projected != 0)
                visits_.wake(i);  // its rest was too long
            return loss_.clip(mine);
        };
        const auto found = evaluate_classes(loss_, problems_, columns, W, U, context_.monitor, share);
        for (std::size_t k = 0; k < chosen.size(); ++k) {
            Class& c = classes_[chosen[k]];
            const Bounds& now = found[k].bounds;
            const double without = now.primal - now.dual - mismatch(chosen[k]);
            if (c.expected > 0) c.factor = std::clamp(1.1 * without / c.expected, 0.5, 10.0);
            for (std::size_t j = 0; j < d; ++j) W_.row(j)[chosen[k]] = static_cast<Real>(U.row(j)[k]);
            keep_best(c, chosen[k], found[k], W, k);
        }
    }

    void keep_best(Class& c, std::size_t column, const ClassBounds& found, const ClassMatrix<double>& W,
                   std::size_t k) {
        Solution& best = solution(c);
        const bool first = best.history.empty();
        if (first) best.bounds = Bounds::none();
        if (best.bounds.lower(found.bounds)) {
            best.w.resize(problem_.dimension());
            for (std::size_t j = 0; j < best.w.size(); ++j) best.w[j] = W.row(j)[k];
        }
        const bool higher = best.bounds.raise(found.bounds);
        c.reached = best.bounds.reached(options_.tol);
        c.wants_care = best.bounds.wants_care(options_.tol);
        if (c.reached && !options_.keep_points) {
            best.q = {};
        } else if (higher) {
            best.q.resize(rows_.size());
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                const double factor = problems_.labels[i] == c.number ? found.positive : found.negative;
                best.q[i] = rows_[i].cost > 0 ? factor * loss_.clip(static_cast<double>(q(i)[column])) : 0;
            }
        }
        Context own{context_.team, context_.monitor,
                    [&](const Record& record) { report_(c.number, record); }};
        best.record(own, made_ / static_cast<double>(rows_.size()), best.bounds);
    }

    /// Those that reached tol leave, or all, for the reason given; so do those that only rounding keeps from
    /// it, as alone they get a closer look. The others close ranks.
    void leave(const char* end) {
        std::vector<std::size_t> staying;
        for (std::size_t k = 0; k < classes_.size(); ++k) {
            if (!end && !classes_[k].reached && !classes_[k].wants_care) {
                staying.push_back(k);
                continue;
            }
            Solution& done = solution(classes_[k]);
            done.epochs = made_ / static_cast<double>(rows_.size());
            done.t = done.steps = static_cast<std::uint64_t>(made_);
            done.seconds = context_.monitor.seconds();
            done.reason = classes_[k].reached ? "tol" : end ? end : "handed_over";
        }
        if (staying.size() == classes_.size()) return;
        W_.keep_columns(staying);
        const std::size_t before = q_.size() / rows_.size(), after = W_.stride();
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (std::size_t k = 0; k < staying.size(); ++k) q_[i * after + k] = q_[i * before + staying[k]];
        q_.resize(rows_.size() * after);
        for (std::size_t k = 0; k < staying.size(); ++k) classes_[k] = classes_[staying[k]];
        classes_.resize(staying.size());
        number_columns();
    }

    const Loss loss_;
    const ClassProblems<Rows>& problems_;
    const CommonProblem<Rows>& problem_;
    const SharedSdcaOptions options_;
    Context& context_;
    const ClassReport report_;
    ClassMatrix<Real> W_;
    AlignedVector<Real> q_;
    std::vector<Row> rows_;
    Visits visits_;
    std::vector<Class> classes_;         // at work, in the order of their columns
    std::vector<std::uint32_t> column_;  // of each class
    std::vector<float> calm_;            // of the rows visited
    std::vector<Solution> solutions_;
    double kappa_ = 0, step_ = 0, slope_ = 0;
    double made_ = 0;
};

}  // namespace pegasos
