// clang-format off
// SDCA on all classes jointly: dual coordinate ascent, a row's K variables at a time (Crammer and Singer 2001; Keerthi
// and others 2008; Shalev-Shwartz and Zhang 2016 for the log loss). See multiclass.hpp for the problem and its dual.
//
//   visit row i:  f = x_i W,   p_i <- argmax g(p) + <f, p> - a/2 ||p - p_i||^2 over the simplex,
//                 W <- W - C s_i x_i' (change of p_i)
//
// W is U of the present p, so that the scores met during an epoch estimate the duality gap, a sum over rows, for
// nothing. When that estimate promises `tol`, or now and then (checks.hpp), it is computed in full, with U computed
// afresh: that pass is the certificate.
//
// Rest, order and intercept are as in sdca.cpp: a row that would change nothing, or next to nothing, is left out for a
// number of epochs, which the loss chooses by how far the others are from a maximum (root mean square); the intercepts
// are found by the method of multipliers, with a b for each class.
//
// Unless tol is small, W is of floats, which halves what a visit reads: it is U only up to rounding, until a check
// computes it again. The certificate does not depend on it.
//
// The threads of the team share the checks.
// clang-format on
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/checks.hpp"
#include "base/multipliers.hpp"
#include "classes/joint_certificate.hpp"
#include "classes/solvers/solve.hpp"
#include "linear/visits.hpp"

namespace pegasos {

namespace {

template <class Real>
class JointSdca {
public:
    JointSdca(const JointProblem& problem, const SdcaOptions& options, Context& context)
        : problem_(problem),
          options_(options),
          context_(context),
          stride_(padded(problem.n_classes)),
          W_(problem.dimension(), problem.n_classes),
          p_(problem.rows.n_rows * stride_),
          rows_(problem.rows.n_rows),
          visits_(problem.rows.n_rows, options.blocks, options.seed),
          checks_(options.tol, 0.9, first_record),
          ascent_(problem.loss->make_ascent()),
          b_(stride_) {
        context.team.run_ranges(rows_.size(), [&](std::size_t, std::size_t first, std::size_t last) {
            problem.rows.visit([&](const auto& rows) {
                for (std::size_t i = first; i < last; ++i) {
                    const std::uint32_t y = problem.labels[i];
                    rows_[i] = {problem.C * problem.weights[i], rows.squared_norm(i), 0, y, y};
                    p_[i * stride_ + y] = 1;
                    if (rows_[i].bound == 0) visits_.leave_out(i);
                }
            });
        });
    }

    Solution run(const Start& start) {
        const std::vector<RowNumber>& sequence = options_.sequence;
        if (!start.q.empty()) resume(start.q);
        if (problem_.rows.bias > 0) set_up_intercepts(start.w, sequence.empty());
        const double n_rows = static_cast<double>(rows_.size());
        Solution solution;
        const auto state = [&](State& state) {
            state(solution, visits_, checks_, b_, made_);
            state.array(W_.values().data(), W_.values().size());
            state.array(p_.data(), p_.size());
            state.array(rows_.data(), rows_.size());
        };
        context_.resume(state);
        until_ended(solution, [&] {
            for (;;) {
                context_.offer(state);
                visits_.make_order(sequence, options_.max_epochs * n_rows - made_);
                calm_.assign(visits_.order().size(), 0.0f);
                const Stats stats = make_epoch();
                visits_.end_epoch();
                made_ += stats.visits;
                move_intercepts();
                if (options_.shrink) send_to_rest(stats);
                const bool out_of_time = context_.monitor.timed_out();
                const bool idle = visits_.order().empty();  // as no row has a weight
                const bool last =
                    out_of_time || idle || !sequence.empty() || made_ >= options_.max_epochs * n_rows;
                checks_.met(stats.gap);
                if (last || checks_.due(options_.tol > 0 ? dual_now() : 0, mismatch())) {
                    const Bounds now = check(solution);
                    if (!solution.reason.empty() || solution.ends(options_.tol, out_of_time, last)) break;
                    checks_.found(now.primal - now.dual - mismatch());
                }
            }
        });
        solution.finish(context_, made_ / n_rows, static_cast<std::uint64_t>(made_), start.t);
        return solution;
    }

private:
    struct Stats {
        double gap = 0;  // estimate, from the scores met
        double visits = 0;
        double violation = 0;  // sum of squares
    };
    static constexpr std::size_t far = 16, near = 8;  // prefetch distances, in rows
    // A check reads all rows in double precision, an epoch only those that do not rest, of floats. Where
    // nothing promises tol, it therefore comes later than elsewhere (16); in fits of 5 data sets neither was
    // faster.
    static constexpr std::uint64_t first_record = 64;
    // Of the mean squared norm, for the multipliers: elsewhere 0.01, which took about as many epochs here.
    static constexpr double least_share = 0.1;

    double* p(std::size_t i) { return &p_[i * stride_]; }

    /// Starts from a dual point; what is not in the simplex is brought there.
    void resume(const std::vector<double>& q) {
        const std::size_t K = problem_.n_classes;
        AlignedVector<double> d(stride_);
        problem_.rows.visit([&](const auto& rows) {
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
                row.dual = problem_.loss->dual(mine, row.label);
                if (row.vertex != row.label) W_.add(rows, i, row.bound, d.data());
            }
        });
    }

    void set_up_intercepts(const std::vector<double>& start_w, bool multipliers) {
        const double bias = problem_.rows.bias, n_rows = static_cast<double>(rows_.size());
        double sum = 0;
        for (const JointRow& row : rows_) sum += row.square - bias * bias;
        const double rho = multipliers ? Multipliers::choose_rho(
                                             sum, n_rows, problem_.C * problem_.total_weight, least_share)
                                       : std::numeric_limits<double>::infinity();
        multipliers_ = {bias, rho};
        for (JointRow& row : rows_) row.square += multipliers_.extra_square();
        if (start_w.empty()) return;
        const std::size_t K = problem_.n_classes;
        for (std::size_t k = 0; k < K; ++k) b_[k] = bias * start_w[start_w.size() - K + k];
    }

    /// b <- what scores are computed with now.
    void move_intercepts() {
        const Real* last = W_.row(problem_.rows.n_features);
        for (std::size_t k = 0; k < stride_; ++k)
            b_[k] = multipliers_.intercept(b_[k], static_cast<double>(last[k]));
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
            if (calm_[at] > 0) visits_.rest(visits_.order()[at], ascent_->rest(calm_[at], usual));
    }

    Stats make_epoch() {
        context_.monitor.at_epoch(made_ / static_cast<double>(rows_.size()));
        if (context_.monitor.look() || visits_.order().empty()) return {};
        return problem_.rows.visit([&](const auto& rows) { return visit_rows(rows); });
    }

    template <class Rows>
    Stats visit_rows(const Rows& rows) {
        Monitor& monitor = context_.monitor;
        const std::vector<RowNumber>& order = visits_.order();
        JointAscent& ascent = *ascent_;
        Stats stats;
        AlignedVector<double> f(stride_), shift(stride_);
        for (std::size_t k = 0; k < stride_; ++k) shift[k] = multipliers_.kappa * b_[k];
        const Real* last = W_.row(rows.n_features);
        const double slope = multipliers_.slope;
        const bool intercepts = multipliers_.kappa > 0;
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
                    f[k] += shift[k] + slope * static_cast<double>(last[k]);
            const JointVisit visit = ascent.visit(f.data(), row, p(i), row.bound * row.square);
            stats.gap += row.bound * visit.gap;
            stats.violation += visit.violation * visit.violation;
            stats.visits += 1;
            calm_[at] = static_cast<float>(visit.calm);
            if (visit.changed) {
                if (visit.all)
                    W_.add(rows, i, -row.bound, ascent.change());
                else
                    W_.add(rows, i, -row.bound, ascent.changes());
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
        const AnyRows& rows = problem_.rows;
        ClassMatrix<double> W(problem_.dimension(), problem_.n_classes);
        std::copy(W_.values().begin(), W_.values().end(), W.values().begin());
        if (rows.bias > 0)
            for (std::size_t k = 0; k < stride_; ++k) W.row(rows.n_features)[k] = b_[k] / rows.bias;
        DualPoint point;
        const auto slopes = [&](std::size_t first, std::size_t last, const double* f, double* out) {
            for (std::size_t i = first; i < last; ++i, f += stride_, out += stride_) {
                const JointRow& row = rows_[i];
                if (row.vertex != JointRow::none && visits_.rests(i)) {
                    const double top = problem_.loss->slope(f, row.label, out) + f[row.label];
                    if (top > f[row.vertex] + row.dual) visits_.wake(i);  // its rest was too long
                }
                std::copy_n(p(i), stride_, out);
            }
        };
        const JointPass pass(problem_, W, context_);
        const Bound primal = pass.make(point, slopes);
        Bounds now = between(primal, point.value());
        std::copy(point.u.begin(), point.u.end(), W_.values().begin());
        if (now.wants_care(options_.tol) && !context_.monitor.timed_out()) pass.look_closely(point, now);
        const auto kept = solution.take(context_, made_ / static_cast<double>(rows.n_rows), now);
        if (kept.w) solution.w = W.flat();
        if (kept.q) {
            solution.q = std::move(point.q);
            swap_sign(solution.q, problem_.labels, problem_.n_classes);
        }
        solution.tell(context_);
        return now;
    }

    const JointProblem& problem_;
    const SdcaOptions options_;
    Context& context_;
    const std::size_t stride_;
    ClassMatrix<Real> W_;
    AlignedVector<double> p_;
    std::vector<JointRow> rows_;
    Visits visits_;
    Checks checks_;
    const std::unique_ptr<JointAscent> ascent_;
    std::vector<float> calm_;  // of the rows visited
    std::vector<double> b_;    // intercepts
    Multipliers multipliers_;
    double made_ = 0;
};

}  // namespace

Solution solve_sdca_jointly(const JointProblem& problem, const SdcaOptions& options, const Start& start,
                            Context& context) {
    if (options.tol >= coarse) return JointSdca<float>(problem, options, context).run(start);
    return JointSdca<double>(problem, options, context).run(start);
}

}  // namespace pegasos
