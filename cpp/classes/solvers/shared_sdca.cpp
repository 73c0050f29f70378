// SDCA on several classes at once, each against the rest: sdca.cpp's problem and steps for every class, with
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
// of them would have it rest in sdca.cpp. What is left after some epochs is handed over to sdca.cpp, which
// knows which rows may rest for each class.
//
// Order and intercepts are as in sdca.cpp, with a multiplier b for each class. Unless tol is small, W and q
// are of floats; the certificate does not depend on W, and q is what it is whatever its precision.
//
// One thread: several groups of classes are for several.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/checks.hpp"
#include "base/multipliers.hpp"
#include "classes/class_steps.hpp"
#include "classes/shared_certificate.hpp"
#include "classes/solvers/solve.hpp"
#include "linear/visits.hpp"

namespace pegasos {

namespace {

/// The work of a visit on a row's numbers of all classes, and what the visits of an epoch add up to for each
/// class.
template <class Real>
class ClassVisits {
public:
    explicit ClassVisits(std::size_t stride)
        : usual(stride), gap(stride), violation(stride), linear(stride), change(stride), best_(stride) {}
    virtual ~ClassVisits() = default;

    struct Found {
        double calm, most;  // how long the row may rest, and its largest change
    };
    /// Ascends on the shares q of K classes at the margins z; `change` has what was taken off them.
    virtual Found visit(std::size_t K, const double* z, Real* q, double cost, double square) = 0;

    AlignedVector<double> usual;  // the inverse of each class's usual violation
    AlignedVector<double> gap, violation, linear, change;

protected:
    AlignedVector<double> best_;
};

template <class Loss, class Real>
class VisitsOf final : public ClassVisits<Real> {
public:
    VisitsOf(const Loss& loss, std::size_t stride)
        : ClassVisits<Real>(stride), loss_(for_estimates(loss)), steps_(loss, stride) {}

    typename ClassVisits<Real>::Found visit(std::size_t K, const double* z, Real* q, double cost,
                                            double square) override {
        const auto loss = loss_;
        steps_.ascend(K, z, q, cost * square, this->best_.data());
        const double *best = this->best_.data(), *usual = this->usual.data();
        double *gap = this->gap.data(), *violation = this->violation.data(), *linear = this->linear.data(),
               *change = this->change.data();
        double calm = longest_rest, most = 0;
#pragma omp simd reduction(min : calm) reduction(max : most)
        for (std::size_t k = 0; k < K; ++k) {
            const double before = q[k];
            const double dual = loss.dual(before, 1, 1);
            gap[k] += cost * (loss.value(z[k], 1) - dual + before * z[k]);
            const Pull pull = loss.pull(before, 1, z[k], 1);
            violation[k] += pull.projected * pull.projected;
            calm = std::min(calm, pull.outward * usual[k]);
            const Real next = std::abs(pull.projected) > 1e-14 ? static_cast<Real>(best[k]) : q[k];
            q[k] = next;
            linear[k] += cost * (loss.dual(next, 1, 1) - dual);
            change[k] = before - static_cast<double>(next);
            most = std::max(most, std::abs(change[k]));
        }
        return {calm, most};
    }

private:
    const decltype(for_estimates(std::declval<Loss>())) loss_;
    ClassSteps<Loss> steps_;
};

template <class Real>
std::unique_ptr<ClassVisits<Real>> make_visits(const AnyLoss& any, std::size_t stride) {
    return any.visit([&]<class Loss>(const Loss& loss) -> std::unique_ptr<ClassVisits<Real>> {
        if constexpr (Loss::regression)
            throw std::invalid_argument("a loss for regression has no classes");
        else
            return std::make_unique<VisitsOf<Loss, Real>>(loss, stride);
    });
}

template <class Real>
class SharedSdca {
public:
    SharedSdca(const ClassProblems& problems, const SharedSdcaOptions& options, const ClassReport& report,
               Context& context)
        : problems_(problems),
          problem_(problems.common),
          options_(options),
          context_(context),
          report_(report),
          W_(problem_.dimension(), options.last - options.first),
          q_(problem_.rows.n_rows * W_.stride()),
          rows_(problem_.rows.n_rows),
          visits_(problem_.rows.n_rows, options.blocks, options.seed),
          solutions_(options.last - options.first) {
        for (std::size_t k = options.first; k < options.last; ++k)
            classes_.push_back({k, Checks(options.tol)});
        problem_.rows.visit([&](const auto& rows) {
            for (std::size_t i = 0; i < rows_.size(); ++i)
                rows_[i] = {problem_.C * problem_.weights[i], rows.squared_norm(i)};
        });
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].cost == 0) visits_.leave_out(i);
        number_columns();
    }

    std::vector<Solution> run() {
        try {
            make_epochs();
        } catch (const Ended& ended) {  // what the last checks found stands
            for (const Class& c : classes_)
                if (solution(c).history.empty()) throw;
            leave(ended.reason);
        }
        return std::move(solutions_);
    }

private:
    void make_epochs() {
        const std::vector<RowNumber>& sequence = options_.sequence;
        if (problem_.rows.bias > 0) set_up_intercepts(sequence.empty());
        const double n_rows = static_cast<double>(rows_.size());
        const auto state = [&](State& state) { pass_state(state); };
        context_.resume(state);
        while (!classes_.empty()) {
            context_.offer(state);
            visits_.make_order(sequence, options_.max_epochs * n_rows - made_);
            calm_.assign(visits_.order().size(), 0.0f);
            make_epoch();
            visits_.end_epoch();
            if (options_.shrink) send_to_rest();
            const char* end = nullptr;  // why all classes end
            if (context_.monitor.timed_out())
                end = "max_time";
            else if (!sequence.empty() || visits_.order().empty() || made_ >= options_.max_epochs * n_rows)
                end = "budget";  // or no row has a weight
            else if (made_ >= options_.shared_epochs * n_rows)
                end = "handed_over";
            const std::vector<std::size_t> chosen = choose_for_check(end || classes_[0].checks.at_record());
            if (chosen.empty()) continue;
            check(chosen);
            leave(end);
        }
    }

    /// Between two epochs.
    void pass_state(State& state) {
        state(solutions_, classes_, visits_, made_);
        if (state.reads()) {
            if (solutions_.size() != options_.last - options_.first || classes_.size() > solutions_.size())
                State::refuse();
            for (const Class& c : classes_)
                if (c.number < options_.first || c.number >= options_.last) State::refuse();
            W_ = {problem_.dimension(), classes_.size()};
            q_.resize(rows_.size() * W_.stride());
            number_columns();
        }
        state.array(W_.values().data(), W_.values().size());
        state.array(q_.data(), q_.size());
    }

    struct Row {
        double cost, square;  // C s_i, ||x_i||^2
    };
    struct Class {
        std::size_t number = 0;
        Checks checks = Checks(0);
        double b = 0, linear = 0, inverse_usual = 0;
        bool reached = false, wants_care = false, stopped = false;
    };
    static constexpr std::size_t far = 16, near = 8;  // prefetch distances, in rows

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
        double sum = 0, rho = std::numeric_limits<double>::infinity();
        for (const Row& row : rows_) sum += row.square - bias * bias;
        if (multipliers) rho = Multipliers::choose_rho(sum, n_rows, problem_.C * problem_.total_weight);
        multipliers_ = {bias, rho};
        for (Row& row : rows_) row.square += multipliers_.extra_square();
    }

    /// The visits of the order, and what they tell of each class.
    void make_epoch() {
        const std::size_t K = classes_.size();
        context_.monitor.at_epoch(made_ / static_cast<double>(rows_.size()));
        const auto visits = make_visits<Real>(problem_.loss, W_.stride());
        for (std::size_t k = 0; k < K; ++k) visits->usual[k] = classes_[k].inverse_usual;
        const double visited =
            problem_.rows.visit([&](const auto& rows) { return visit_rows(rows, *visits); });
        made_ += visited;
        const Real* last = W_.row(problem_.rows.n_features);
        for (std::size_t k = 0; k < K; ++k) {
            Class& c = classes_[k];
            c.linear += visits->linear[k];
            c.b = multipliers_.intercept(c.b, static_cast<double>(last[k]));
            if (visits->violation[k] > 0) c.inverse_usual = std::sqrt(visited / visits->violation[k]);
            c.checks.met(visits->gap[k]);
        }
    }

    /// How many were made.
    template <class Rows>
    double visit_rows(const Rows& rows, ClassVisits<Real>& visits) {
        Monitor& monitor = context_.monitor;
        const std::size_t K = classes_.size(), stride = W_.stride();
        AlignedVector<double> f(stride), shift(stride);
        for (std::size_t k = 0; k < K; ++k) shift[k] = multipliers_.kappa * classes_[k].b;
        const bool intercepts = multipliers_.kappa > 0;
        const double slope = multipliers_.slope;
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
            if (intercepts)
                for (std::size_t k = 0; k < K; ++k) f[k] += shift[k] + slope * static_cast<double>(last[k]);
            const std::uint32_t mine = column_[problems_.labels[i]];
            for (std::size_t k = 0; k < K; ++k) f[k] = -f[k];
            if (mine != no_column) f[mine] = -f[mine];
            const auto [calm, most] = visits.visit(K, f.data(), q(i), rows_[i].cost, rows_[i].square);
            calm_[at] = static_cast<float>(calm);
            if (most > 0) {
                if (mine != no_column) visits.change[mine] = -visits.change[mine];
                W_.add_nonzero(rows, i, rows_[i].cost, visits.change.data());
            }
            visited += 1;
            monitor.worked(rows.entries(i) * stride / 8);
        }
        return visited;
    }

    void send_to_rest() {
        for (std::size_t at = 0; at < visits_.order().size(); ++at)
            if (calm_[at] > 0) visits_.rest(visits_.order()[at], epochs_of_rest(calm_[at], 1));
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
            if (all || c.checks.promises(c.linear - square[k] / 2, mismatch(k))) chosen.push_back(k);
        }
        if (2 * chosen.size() < K) chosen.clear();
        return chosen;
    }

    /// Bounds of some columns now; their solutions keep the best of each. W is computed afresh from q.
    void check(const std::vector<std::size_t>& chosen) {
        const AnyRows& rows = problem_.rows;
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
        const auto shares = [&](std::size_t first, std::size_t last, const double* z, double* out) {
            problem_.loss.visit([&](const auto& loss) {
                for (std::size_t i = first; i < last; ++i, z += W.stride(), out += W.stride())
                    for (std::size_t k = 0; k < chosen.size(); ++k) {
                        const double mine = static_cast<double>(q(i)[chosen[k]]);
                        out[k] = rows_[i].cost > 0 ? loss.clip(mine) : 0;
                        if (rows_[i].cost > 0 && visits_.rests(i) &&
                            loss.pull(mine, 1, z[k], 1).projected != 0)
                            visits_.wake(i);  // its rest was too long
                    }
            });
        };
        const auto found = evaluate_classes(problems_, columns, W, U, context_.monitor, shares);
        for (std::size_t k = 0; k < chosen.size(); ++k) {
            Class& c = classes_[chosen[k]];
            const Bounds& now = found[k].bounds;
            c.checks.found(now.primal - now.dual - mismatch(chosen[k]));
            for (std::size_t j = 0; j < d; ++j) W_.row(j)[chosen[k]] = static_cast<Real>(U.row(j)[k]);
            keep_best(c, chosen[k], found[k], W, k);
        }
    }

    void keep_best(Class& c, std::size_t column, const ClassBounds& found, const ClassMatrix<double>& W,
                   std::size_t k) {
        Solution& best = solution(c);
        const auto kept = best.take(context_, made_ / static_cast<double>(rows_.size()), found.bounds);
        if (kept.w) {
            best.w.resize(problem_.dimension());
            for (std::size_t j = 0; j < best.w.size(); ++j) best.w[j] = W.row(j)[k];
        }
        c.stopped = report_(c.number, best.history.back(), [&] { return best.w; });
        c.reached = best.bounds.reached(options_.tol);
        c.wants_care = best.bounds.wants_care(options_.tol);
        if (c.reached && !options_.keep_points) {
            best.q = {};
        } else if (kept.q) {
            best.q.resize(rows_.size());
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                const double factor = problems_.labels[i] == c.number ? found.positive : found.negative;
                best.q[i] =
                    rows_[i].cost > 0 ? factor * problem_.loss.clip(static_cast<double>(q(i)[column])) : 0;
            }
        }
    }

    /// Those that reached tol leave, or all, for the reason given; so do those that only rounding keeps from
    /// it, as alone they get a closer look. The others close ranks.
    void leave(const char* end) {
        std::vector<std::size_t> staying;
        for (std::size_t k = 0; k < classes_.size(); ++k) {
            if (!end && !classes_[k].reached && !classes_[k].wants_care && !classes_[k].stopped) {
                staying.push_back(k);
                continue;
            }
            Solution& done = solution(classes_[k]);
            done.finish(context_, made_ / static_cast<double>(rows_.size()),
                        static_cast<std::uint64_t>(made_));
            done.reason = classes_[k].stopped   ? "callback"
                          : classes_[k].reached ? "tol"
                          : end                 ? end
                                                : "handed_over";
        }
        if (staying.size() == classes_.size()) return;
        W_.keep_columns(staying);
        const std::size_t before = q_.size() / rows_.size(), after = W_.stride();
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (std::size_t k = 0; k < staying.size(); ++k) q_[i * after + k] = q_[i * before + staying[k]];
        q_.resize(rows_.size() * after);
        for (std::size_t k = 0; k < staying.size(); ++k) classes_[k] = classes_[staying[k]];
        classes_.erase(classes_.begin() + static_cast<std::ptrdiff_t>(staying.size()), classes_.end());
        number_columns();
    }

    const ClassProblems& problems_;
    const Problem& problem_;
    const SharedSdcaOptions options_;
    Context& context_;
    const ClassReport& report_;
    ClassMatrix<Real> W_;
    AlignedVector<Real> q_;
    std::vector<Row> rows_;
    Visits visits_;
    std::vector<Class> classes_;         // at work, in the order of their columns
    std::vector<std::uint32_t> column_;  // of each class
    std::vector<float> calm_;            // of the rows visited
    std::vector<Solution> solutions_;
    Multipliers multipliers_;
    double made_ = 0;
};

}  // namespace

std::vector<Solution> solve_shared_sdca(const Problem& problem, const SharedSdcaOptions& options,
                                        const ClassReport& report, Context& context) {
    problem.refuse_free_intercept();
    const ClassProblems problems{problem, {problem.labels.begin(), problem.labels.end()}};
    if (options.tol >= coarse) return SharedSdca<float>(problems, options, report, context).run();
    return SharedSdca<double>(problems, options, report, context).run();
}

}  // namespace pegasos
