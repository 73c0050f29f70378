// How far from the optimum, of all classes jointly (see multiclass.hpp, and certificate.hpp for what it is).
//
// A dual point is kept as e_y - p, in which U is linear and whose multiples by c in [0, 1] lead to p = e_y:
// so `DualPoint` rescales and joins it as it does the q of two classes. A mean of the slopes met, each in the
// simplex, is in the simplex.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/monitor.hpp"
#include "base/threads.hpp"
#include "classes/multiclass.hpp"
#include "linear/certificate.hpp"

namespace pegasos {

/// p from e_y - p, or the reverse.
inline void swap_sign(std::vector<double>& q, std::span<const std::uint32_t> labels, std::size_t n_classes) {
    for (std::size_t i = 0; i < labels.size(); ++i)
        for (std::size_t k = 0; k < n_classes; ++k) {
            double& x = q[i * n_classes + k];
            x = k == labels[i] ? 1 - x : 0 - x;
        }
}

/// The matrix U, on request in twice the precision (as `RowSum`, rounding.hpp).
class ClassSum {
public:
    ClassSum(std::size_t dimension, std::size_t n_classes, bool careful)
        : high_(dimension, n_classes), low_(careful ? dimension : 0, n_classes) {}

    /// Adds C s x_i' change, ||x_i|| ||change|| being at most `norms`; `lost` is what rounding took of the
    /// change.
    template <class Rows>
    void add(const Rows& rows, std::size_t i, double C, double s, const double* change, const double* lost,
             double norms) {
        reach_ += C * s * norms;
        spread_ += reach_;
        if (low_.values().empty()) return high_.add_nonzero(rows, i, C * s, change);
        for (std::size_t k = 0; k < high_.n_classes(); ++k) {
            if (change[k] == 0) continue;
            const Double2 step = exact_product(C, s) * Double2{change[k], lost[k]};
            rows.for_each(i, [&](std::size_t j, double x) {
                set(j * high_.stride() + k, at(j * high_.stride() + k) + step * Double2{x});
            });
        }
    }

    void add(const ClassSum& other) {
        reach_ += other.reach_;
        spread_ += other.spread_ + reach_;
        for (std::size_t j = 0; j < high_.values().size(); ++j)
            if (low_.values().empty())
                high_.values()[j] += other.high_.values()[j];
            else
                set(j, at(j) + other.at(j));
    }

    /// The sum, rounded to double precision; before that its error in norm is `error`. Without what they
    /// lost, the entries of a change are right to K units themselves.
    std::vector<double> take() const {
        std::vector<double> all(high_.values().begin(), high_.values().end());
        for (std::size_t j = 0; j < low_.values().size(); ++j) all[j] += low_.values()[j];
        return all;
    }
    double error() const {
        const double own = static_cast<double>(high_.n_classes() + 32);
        return 1.01 * unit * (low_.values().empty() ? 1 : 16 * unit) * (spread_ + own * reach_);
    }
    /// As that of `RowSum`.
    double rows_error() const { return 2 * unit * reach_; }

private:
    Double2 at(std::size_t j) const { return {high_.values()[j], low_.values()[j]}; }
    void set(std::size_t j, const Double2& x) {
        high_.values()[j] = x.high;
        low_.values()[j] = x.low;
    }

    ClassMatrix<double> high_, low_;
    double reach_ = 0, spread_ = 0;
};

inline Double2 sum_of(const double* p, std::size_t K, bool careful) {
    Double2 sum;
    for (std::size_t k = 0; k < K; ++k)
        if (careful)
            sum = sum + Double2{p[k]};
        else
            sum.high += p[k];
    return sum;
}

/// p <- e_y - p, where the largest p is 1 less the others, which sum to `rest`: each entry is right
/// relatively. On request `lost` is what rounding took of them.
inline void to_change(double* p, std::size_t K, std::uint32_t y, std::size_t largest, const Double2& rest,
                      double* lost) {
    const double own = p[y];
    for (std::size_t k = 0; k < K; ++k) p[k] = 0 - p[k];
    const auto set = [&](std::size_t k, const Double2& x) {
        p[k] = x.value();
        if (lost) lost[k] = (x.high - p[k]) + x.low;
    };
    if (lost) std::fill_n(lost, K, 0.0);
    if (largest == y) return set(y, rest);
    set(y, exact_sum(1, -own));
    set(largest, Double2{-1} + rest);
}

/// f = x_i W in twice the precision, rounded; the largest of them.
template <class Rows>
double careful_scores(const Rows& rows, std::size_t i, const ClassMatrix<double>& W, double* f) {
    double largest = 0;
    for (std::size_t k = 0; k < W.n_classes(); ++k) {
        Double2 sum;
        rows.for_each(i, [&](std::size_t j, double x) { sum = sum + exact_product(x, W.row(j)[k]); });
        f[k] = sum.value();
        largest = std::max(largest, std::abs(f[k]));
    }
    return largest;
}

/// One pass over the rows: the primal value at W and, from `slope(i, loss, f, p)`, which fills in p, a
/// dual point. Each thread of the team takes a range of rows and sums into a matrix of its own. Both allow
/// for their rounding as in `evaluate`: the dual point that is meant is exactly in the simplex, its largest p
/// being 1 less the sum of the others.
template <class Loss, class Rows, class Slope>
Bound evaluate_jointly(const JointProblem<Rows>& problem, const ClassMatrix<double>& W, Team& team,
                       Monitor& monitor, DualPoint& point, Slope slope, bool careful = false) {
    const Rows& rows = problem.rows;
    const std::size_t K = problem.n_classes, stride = padded(K);
    struct Part {
        Sum loss, linear;
        double slack = 0, linear_error = 0;
        std::vector<ClassSum> U;
    };
    std::vector<Part> parts(team.size());
    point.q.resize(rows.n_rows * K);
    Sum squares;
    for (const double x : W.values()) squares.add(x * x);
    const double square = squares.value(),
                 norm_of_W = W.is_zero() ? 0 : norm_above(square, W.values().size());
    team.run_ranges(rows.n_rows, [&](std::size_t t, std::size_t first, std::size_t last) {
        Part& part = parts[t];
        ClassSum& U = part.U.emplace_back(problem.dimension(), K, careful);
        Loss loss(problem.cost, K);
        AlignedVector<double> f(stride), p(stride), lost(stride);
        for (std::size_t i = first; i < last && !team.failed(); ++i) {
            const std::uint32_t y = problem.labels[i];
            const double s = problem.weights[i], entries = static_cast<double>(rows.entries(i));
            const double norm = norm_above(rows.squared_norm(i), rows.entries(i) + 1);
            double error;  // of a score
            if (careful) {
                error = 6 * unit * careful_scores(rows, i, W, f.data()) +
                        (stored_error(rows) + 16 * unit * unit * (entries + 8)) * norm_of_W * norm;
            } else {
                W.scores(rows, i, f.data());
                error = (1.01 * entries + 8) * unit * norm_of_W * norm;
            }
            const double value = loss.value(f.data(), y);
            part.loss.add(s * value);
            part.slack += s * loss.excess(f.data(), y, error, value);
            slope(i, loss, f.data(), p.data());
            const std::size_t largest =
                static_cast<std::size_t>(std::max_element(p.data(), p.data() + K) - p.data());
            p[largest] = 0;
            const Double2 rest = sum_of(p.data(), K, careful);
            p[largest] = 1 - rest.value();
            const Bound dual = loss.bound_of_dual(p.data(), y, largest, rest.value());
            part.linear.add(s * dual.value);
            part.linear_error += s * dual.rounding;
            to_change(p.data(), K, y, largest, rest, careful ? lost.data() : nullptr);
            std::copy_n(p.begin(), K, point.q.begin() + static_cast<std::ptrdiff_t>(i * K));
            // The others sum to 1 - p_y too, so that the norm is at most sqrt(2) of it.
            if (p[y] != 0) U.add(rows, i, problem.C, s, p.data(), lost.data(), 1.5 * p[y] * norm);
            if (t == 0) monitor.worked(rows.entries(i) * stride / 8);
        }
    });
    Sum loss, linear;
    double slack = 0, linear_error = 0;
    for (std::size_t t = 0; t < parts.size(); ++t) {
        const Part& part = parts[t];
        loss.add(part.loss.value());
        linear.add(part.linear.value());
        slack += part.slack;
        linear_error += part.linear_error;
        if (t > 0) parts[0].U[0].add(part.U[0]);
    }
    point.linear = problem.C * linear.value();
    point.linear_error =
        problem.C * (1.01 * linear_error + (16 * unit + sum_error(rows.n_rows)) * linear.value());
    point.error = parts[0].U[0].error() + (rows.rescaled ? parts[0].U[0].rows_error() : 0);
    point.u = parts[0].U[0].take();
    if (careful) point.error += 2 * unit * std::sqrt(squared_norm(point.u));
    const double losses = loss.value();
    slack += unit * static_cast<double>(2 * K + 32) * losses;
    return primal_bound(square, problem.C, losses, slack, rows.n_rows, W.values().size());
}

/// The same with the e_y - p of a point given, in twice the precision. Where that makes better bounds, the
/// point and `bounds` have them.
template <class Loss, class Rows>
void look_closely_jointly(const JointProblem<Rows>& problem, const ClassMatrix<double>& W, Team& team,
                          Monitor& monitor, DualPoint& point, Bounds& bounds) {
    const std::size_t K = problem.n_classes;
    DualPoint exact;
    const auto given = [&](std::size_t i, Loss&, const double*, double* p) {
        for (std::size_t k = 0; k < K; ++k)
            p[k] = std::max((k == problem.labels[i]) - point.q[i * K + k], 0.0);
    };
    const Bound primal = evaluate_jointly<Loss>(problem, W, team, monitor, exact, given, true);
    const Bounds found = between(primal, exact.value());
    bounds.lower(found);
    if (bounds.raise(found)) point = std::move(exact);
}

/// The bounds of a W and a p from elsewhere, both without padding; where some p is not in the simplex there
/// is no lower one.
template <class Loss, class Rows>
Bounds certify_jointly(const JointProblem<Rows>& problem, const std::vector<double>& w,
                       const std::vector<double>& q, Team& team, Monitor& monitor) {
    const std::size_t K = problem.n_classes;
    ClassMatrix<double> W(problem.dimension(), K);
    W.assign(w);
    DualPoint point;
    const Bound primal = evaluate_jointly<Loss>(
        problem, W, team, monitor, point, [&](std::size_t i, Loss&, const double*, double* p) {
            std::copy_n(q.begin() + static_cast<std::ptrdiff_t>(i * K), K, p);
        });
    for (std::size_t i = 0; i < problem.rows.n_rows; ++i) {
        double sum = 0, lowest = 0;
        for (std::size_t k = 0; k < K; ++k) {
            sum += q[i * K + k];
            lowest = std::min(lowest, q[i * K + k]);
        }
        if (!(lowest >= 0 && std::abs(sum - 1) <= 1e-9))
            return between(primal, {-std::numeric_limits<double>::infinity()});
    }
    return between(primal, point.value());
}

/// What a run met of each row, since its start or the last check: the sums of its slopes p.
class Slopes {
public:
    Slopes(std::size_t n_rows, std::size_t n_classes)
        : K_(n_classes), visits_(n_rows), sums_(n_rows * n_classes) {}

    void met(std::size_t i, const double* p) {
        ++visits_[i];
        float* sum = &sums_[i * K_];
        for (std::size_t k = 0; k < K_; ++k) sum[k] += static_cast<float>(p[k]);
    }

    /// The mean; false where nothing was met.
    bool mean(std::size_t i, double* p) const {
        if (visits_[i] == 0) return false;
        const float* sum = &sums_[i * K_];
        double total = 0;
        for (std::size_t k = 0; k < K_; ++k) total += static_cast<double>(sum[k]);
        for (std::size_t k = 0; k < K_; ++k) p[k] = static_cast<double>(sum[k]) / total;
        return true;
    }

    /// The mean, and the count starts again.
    bool take(std::size_t i, double* p) {
        if (!mean(i, p)) return false;
        std::fill_n(&sums_[i * K_], K_, 0.0f);
        visits_[i] = 0;
        return true;
    }

private:
    std::size_t K_;
    std::vector<std::uint32_t> visits_;
    std::vector<float> sums_;
};

/// Follows a run: bounds at every check, and the best dual point so far.
template <class Loss, class Rows>
class JointCertifier {
public:
    JointCertifier(const JointProblem<Rows>& problem, Team& team, Monitor& monitor)
        : problem_(problem), team_(team), monitor_(monitor) {}

    /// Bounds at W after the slopes met; rows not met have the slope they have there.
    Bounds check(const ClassMatrix<double>& W, Slopes& slopes, double tol) {
        DualPoint fresh;
        const Bound primal = evaluate_jointly<Loss>(
            problem_, W, team_, monitor_, fresh, [&](std::size_t i, Loss& loss, const double* f, double* p) {
                if (!slopes.take(i, p)) loss.slope(f, problem_.labels[i], p);
            });
        fresh.rescale();
        if (best_.q.empty()) {
            best_ = std::move(fresh);
        } else {
            best_.join(fresh);
            best_.rescale();
        }
        Bounds found = between(primal, best_.value());
        if (found.wants_care(tol) && !monitor_.timed_out())
            look_closely_jointly<Loss>(problem_, W, team_, monitor_, best_, found);
        return found;
    }

    std::vector<double> take_dual() {
        swap_sign(best_.q, problem_.labels, problem_.n_classes);
        return std::move(best_.q);
    }

private:
    const JointProblem<Rows>& problem_;
    Team& team_;
    Monitor& monitor_;
    DualPoint best_;
};

}  // namespace pegasos
