// How far from the optimum: the primal value of a weight vector and a true lower bound from a dual point.
//
// The dual of 1/2 ||w||^2 + C sum_i s_i loss(y_i <w, x_i>) is, with alpha_i = C s_i q_i,
//     D(q) = C sum_i s_i dual(q_i) - 1/2 ||u||^2,    u = sum_i alpha_i y_i x_i,
// for hinge 0 <= q_i <= 1 and dual(q) = q; for regression the signs y_i are 1 (losses.hpp). Any such q gives
// D <= optimum <= P. A stochastic run yields one whatever its step sizes, batches, projections and order of
// visits: q_i is the mean slope met at the visits of row i (for hinge the fraction of its visits at which it
// was a margin error). A mean of slopes is a feasible point for every convex loss (Jensen), and for whole
// epochs of plain Pegasos it is S3's dual point, eq. 11. A check reads every row once for the primal; for
// rows not drawn since the last check that reading is the visit.
//
// Each check starts a new count. The point it yields is joined with the best one so far by the convex
// combination of largest dual value, so that the bound can only rise, and early visits, made when w was still
// far off, fade out.
//
// With a free intercept dual points also satisfy sum_i alpha_i y_i = 0, without which the intercept could
// make the Lagrangian as small as one likes. `evaluate` makes any q so: of the alpha_i y_i
// above zero and those below (the two classes), it multiplies those of larger sum by the quotient of the
// sums. The last entry of u is then zero, and so it stays when points are joined.
//
// All sums are double; the long ones are compensated. Bounds allow for their rounding (rounding.hpp):
//
//   P   a score may be off by e_i = (entries + 8) u ||w|| ||x_i||, for regression 2 u |y_i| more, and each
//   loss
//       knows what that may add to it (`excess`): nothing, where a row is beyond the corner. Values of
//       losses, their sum and the norm are right to 24 u.
//   D   sum C s_i dual(q_i) is right to 32 u times the sum of the sizes of its terms. u is a `RowSum`, whose
//   error
//       in norm follows the point when it is multiplied, joined or balanced: the point that is meant is the
//       exact one, which is feasible, and the number u belongs to it but for that error.
//
// (n u)^2 more, for n rows, is what is left of compensated sums. Where this is what keeps the gap from `tol`,
// or most of the gap, the pass is made again in twice the precision; where it still is, no step can help.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/monitor.hpp"
#include "base/rounding.hpp"
#include "base/threads.hpp"
#include "linear/losses.hpp"
#include "linear/problem.hpp"

namespace pegasos {

/// Neumaier's compensated sum.
class Sum {
public:
    void add(double x) {
        const double next = sum_ + x;
        lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
        sum_ = next;
    }
    double value() const { return sum_ + lost_; }
    Double2 exactly() const { return exact_sum(sum_, lost_); }

private:
    double sum_ = 0, lost_ = 0;
};

/// Of the first `size` entries.
inline double squared_norm(const std::vector<double>& w, std::size_t size) {
    Sum sum;
    for (std::size_t j = 0; j < size; ++j) sum.add(w[j] * w[j]);
    return sum.value();
}

inline double squared_norm(const std::vector<double>& w) { return squared_norm(w, w.size()); }

/// (P - D) / D with D cut off at zero; 0 when both are 0.
inline double relative_gap(double primal, double dual) {
    dual = std::max(dual, 0.0);
    if (primal <= dual) return 0;
    return dual > 0 ? (primal - dual) / dual : std::numeric_limits<double>::infinity();
}

/// What a solver keeps of each row, in one place so that a visit touches one cache line.
struct Visited {
    double signed_weight;  // y_i s_i
    std::uint32_t visits = 0;
    float slopes = 0;  // sum of the slopes met

    double label() const { return std::copysign(1.0, signed_weight); }
    double weight() const { return std::abs(signed_weight); }
};

/// What a compensated sum of n terms may be off by, relative to the sum of their sizes, beside a few units.
inline double sum_error(std::size_t n) {
    return static_cast<double>(n) * unit * (static_cast<double>(n) * unit);
}

/// A feasible dual point: q, and what is needed of it to evaluate and to combine. The point is the exact one
/// that operations on exact numbers would lead to; `linear` and u may be off by the errors, u in norm.
struct DualPoint {
    std::vector<double> q;
    std::vector<double> u;
    double linear = 0;  // C sum_i s_i dual(q_i), or less
    double linear_error = 0, error = 0;

    Bound value() const {
        const double square = squared_norm(u), norm = std::sqrt(square);
        const double below = linear_error + error * (1.01 * norm + error) +
                             (16 * unit + sum_error(u.size())) * (std::abs(linear) + square / 2);
        return {linear - square / 2 - below, below};
    }

    /// q <- c q with the best c in [0, 1]. Valid for concave dual() with dual(0) >= 0: then dual(c q) >= c
    /// dual(q).
    void rescale() {
        const double square = squared_norm(u);
        const double c = square > linear ? std::max(linear / square, 0.0) : 1;
        if (c < 1) multiply(c, square);
    }

    /// q <- (1 - share) q + share other.q with the best share in [0, 1].
    void join(const DualPoint& other) {
        double along = 0, square = 0;  // of the derivative at share = 0, and the curvature
        double mine = 0, theirs = 0;
        for (std::size_t j = 0; j < u.size(); ++j) {
            const double d = other.u[j] - u[j];
            along += u[j] * d;
            square += d * d;
            mine += u[j] * u[j];
            theirs += other.u[j] * other.u[j];
        }
        const double rise = other.linear - linear - along;
        if (!(rise > 0)) return;
        const double share = square > rise ? rise / square : 1;
        multiply(1 - share, mine);
        linear += share * other.linear;
        linear_error += share * other.linear_error + 4 * unit * (std::abs(linear) + std::abs(other.linear));
        error += share * other.error + 4 * unit * (std::sqrt(mine) + std::sqrt(theirs));
        for (std::size_t j = 0; j < u.size(); ++j) u[j] += share * other.u[j];
        for (std::size_t i = 0; i < q.size(); ++i) q[i] += share * other.q[i];
    }

private:
    void multiply(double c, double square) {
        linear_error = c * linear_error + 2 * unit * std::abs(linear);
        error = c * error + 2 * unit * std::sqrt(square);
        linear *= c;
        for (double& x : u) x *= c;
        for (double& x : q) x *= c;
    }
};

/// An upper and a lower bound on the optimum. Both allow for the rounding of the pass that computed them:
/// `above` is what that added to the primal value, `below` what it took off the dual one.
struct Bounds {
    double primal;
    double dual;
    double above = 0, below = 0;

    static Bounds none() {
        return {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    }

    double gap() const { return relative_gap(primal, dual); }
    double rounding() const { return above + below; }
    /// Whether what is left between the bounds is rounding for the most part, so that no more steps can help.
    bool mostly_rounding() const { return rounding() > 0 && primal - dual <= 2 * rounding(); }

    bool reached(double tol) const { return tol > 0 && gap() <= tol; }
    /// Whether a pass that rounds less may be what it takes to reach tol.
    bool wants_care(double tol) const {
        return tol > 0 && gap() > tol &&
               (mostly_rounding() || relative_gap(primal - above, dual + below) <= tol);
    }
    /// Why a run ends that is at its `end` for another reason; null where it does not.
    const char* reason(double tol, const char* end) const {
        if (reached(tol)) return "tol";
        return end || !(tol > 0 && mostly_rounding()) ? end : "precision";
    }

    /// Takes the other's primal bound where it is no higher; whether it is.
    bool lower(const Bounds& other) {
        if (!(other.primal <= primal)) return false;
        primal = other.primal;
        above = other.above;
        return true;
    }
    /// Takes the other's dual bound where it is no lower; whether it is.
    bool raise(const Bounds& other) {
        if (!(other.dual >= dual)) return false;
        dual = other.dual;
        below = other.below;
        return true;
    }
};

/// The bounds of a primal value and a dual one.
inline Bounds between(const Bound& primal, const Bound& dual) {
    return {primal.value, dual.value, primal.rounding, dual.rounding};
}

/// What brings sum y alpha to zero, as a free intercept asks: factors for the alphas of the two classes,
/// given the sums of these.
template <class Number>
std::pair<Number, Number> balance(const Number& negative, const Number& positive) {
    if (negative > positive) return {positive / negative, Number{1}};
    if (positive > negative) return {Number{1}, negative / positive};
    return {Number{1}, Number{1}};
}

/// A penalised intercept pays for sum y alpha, its entry of u: the heavier class gets the factor in [0, 1] of
/// largest dual value, given the `linear` and u of each class.
inline std::pair<Double2, Double2> lighten(const double linear[2], const RowSum u[2]) {
    const std::vector<double>&negative = u[0].high(), &positive = u[1].high();
    const int heavy = negative.back() + positive.back() > 0;
    double cross = 0, square = 0;
    for (std::size_t j = 0; j < negative.size(); ++j) {
        cross += negative[j] * positive[j];
        square += u[heavy].high()[j] * u[heavy].high()[j];
    }
    const double factor = square > 0 ? std::clamp((linear[heavy] - cross) / square, 0.0, 1.0) : 1;
    return heavy ? std::pair{Double2{1}, Double2{factor}} : std::pair{Double2{factor}, Double2{1}};
}

/// How a pass is made: with the heavier class lightened where the intercept is penalised, in twice the
/// precision.
struct PassOptions {
    bool balanced = false, careful = false;
};

/// At least the norm of w; 0 where scores are exact, as at most the intercept is not zero.
template <class Rows>
double norm_of_weights(const Rows& rows, const std::vector<double>& w) {
    const bool exact =
        stored_error(rows) == 0 && std::none_of(w.begin(), w.end() - 1, [](double x) { return x != 0; });
    return exact ? 0 : norm_above(squared_norm(w), w.size());
}

/// The primal value, from its norm, its losses and what rounding may add to the losses, all but the norm
/// without C.
inline Bound primal_bound(double square, double C, double losses, double slack, std::size_t n_rows,
                          std::size_t dimension) {
    const double value = square / 2 + C * losses;
    const double above = 1.01 * C * slack + (24 * unit + sum_error(n_rows) + sum_error(dimension)) * value;
    return {value + above, above};
}

/// One pass over the rows: the primal value at w and, from `slope(i, z)`, a dual point, balanced where
/// the intercept is free. The time limit does not end it (a fit that ran out of time is still certified), an
/// interrupt does. Each thread of the team takes a range of rows and sums into vectors of its own.
template <class Loss, class Rows, class Slope>
Bound evaluate(const Loss& loss, const Problem<Rows>& problem, const std::vector<double>& w, Team& team,
               Monitor& monitor, DualPoint& point, Slope slope, const PassOptions& options = {}) {
    const auto& rows = problem.rows;
    const int n_groups =
        problem.free_intercept || (options.balanced && rows.bias > 0) ? 2 : 1;  // the two classes apart
    point.q.resize(rows.n_rows);
    struct Group {
        Sum linear, alpha;
        double size = 0;  // of the terms of `linear`
        RowSum u;
    };
    struct alignas(128) Part {  // on cache lines of its own
        Sum losses;
        double slack = 0;  // what rounding may add to them
        Group groups[2];
    };
    constexpr std::size_t ahead = 16;  // rows; the hardware alone stops at the ends of pages
    const double norm_of_w = norm_of_weights(rows, w);
    std::vector<Part> parts(team.size());
    team.run_ranges(rows.n_rows, [&](std::size_t k, std::size_t first, std::size_t last) {
        Part& part = parts[k];
        for (int g = 0; g < n_groups; ++g) part.groups[g].u = RowSum(problem.dimension(), options.careful);
        for (std::size_t i = first; i < last && !team.failed(); ++i) {
            if (i + ahead < last) rows.prefetch_row(i + ahead);
            const double y = problem.labels[i], sign = loss.sign(y), s = problem.weights[i];
            const double norm = norm_above(rows.squared_norm(i), rows.entries(i) + 1);
            auto [z, error] = options.careful ? careful_score(rows, i, w.data(), norm_of_w * norm)
                                              : plain_score(rows, i, w.data(), norm_of_w * norm);
            z *= sign;
            if (loss.regression) error += 2 * unit * std::abs(y);
            const double value = loss.value(z, y);
            part.losses.add(s * value);
            part.slack += s * loss.excess(z, y, error, value);
            const double q = point.q[i] = slope(i, z), dual = loss.dual(q, 1, y);
            Group& mine = part.groups[n_groups == 2 && sign * q > 0];
            mine.linear.add(s * dual);
            mine.size += s * loss.size_of_dual(q, y, dual);
            if (problem.free_intercept) {
                const Double2 share =
                    options.careful ? exact_product(s, std::abs(q)) : Double2{s * std::abs(q)};
                mine.alpha.add(share.high);
                if (options.careful) mine.alpha.add(share.low);
            }
            if (q != 0) mine.u.add(rows, i, problem.C, s, q * sign, norm);
            if (k == 0) monitor.worked(rows.entries(i));
        }
    });
    Sum losses;
    double linear[2] = {0, 0}, slack = 0, size = 0;
    Double2 alpha[2];
    RowSum u[2];
    for (const Part& part : parts) {
        losses.add(part.losses.value());
        slack += part.slack;
    }
    for (int g = 0; g < n_groups; ++g) {
        Sum sum;
        u[g] = std::move(parts[0].groups[g].u);
        for (std::size_t k = 0; k < parts.size(); ++k) {
            const Group& group = parts[k].groups[g];
            sum.add(group.linear.value());
            size += group.size;
            alpha[g] = alpha[g] + group.alpha.exactly();
            if (k > 0) u[g].combine({1}, group.u, {1});
        }
        linear[g] = problem.C * sum.value();
    }
    if (n_groups == 2) {
        const auto [negative, positive] =
            problem.free_intercept ? balance(alpha[0], alpha[1]) : lighten(linear, u);
        const double low = negative.value(), high = positive.value();
        linear[0] = low * linear[0] + high * linear[1];
        u[0].combine(negative, u[1], positive);
        if (low != high)
            for (std::size_t i = 0; i < rows.n_rows; ++i)
                point.q[i] *= loss.sign(problem.labels[i]) * point.q[i] > 0 ? high : low;
    }
    point.linear = linear[0];
    point.linear_error = (32 * unit + sum_error(rows.n_rows)) * problem.C * size;
    point.error = u[0].error() + (rows.rescaled ? u[0].rows_error() : 0);
    point.u = u[0].take();
    if (problem.free_intercept) point.u.back() = 0;
    if (options.careful) point.error += 2 * unit * std::sqrt(squared_norm(point.u));
    return primal_bound(squared_norm(w, problem.n_penalized()), problem.C, losses.value(), slack, rows.n_rows,
                        w.size());
}

/// The same with the q of a point given, in twice the precision. Where that makes better bounds, the point
/// and `bounds` have them.
template <class Loss, class Rows>
void look_closely(const Loss& loss, const Problem<Rows>& problem, const std::vector<double>& w, Team& team,
                  Monitor& monitor, DualPoint& point, Bounds& bounds) {
    DualPoint exact;
    const Bound primal =
        evaluate(loss, problem, w, team, monitor, exact,
                 [&](std::size_t i, double) { return loss.clip(point.q[i]); }, {.careful = true});
    const Bounds found = between(primal, exact.value());
    bounds.lower(found);
    if (bounds.raise(found)) point = std::move(exact);
}

/// Follows a run: bounds at every check, and the best dual point so far.
template <class Loss, class Rows>
class Certifier {
public:
    Certifier(const Loss& loss, const Problem<Rows>& problem, Team& team, Monitor& monitor)
        : loss_(loss), problem_(problem), team_(team), monitor_(monitor) {}

    /// Starts from the dual point of an earlier fit of the same rows, if there was one.
    void resume(std::vector<double> q) { best_.q = std::move(q); }

    /// Bounds at w after the visits recorded, which start again from zero. The last of them is the
    /// certificate: P is computed at w, and u from q in this pass, as those of the earlier points it is
    /// joined with were in theirs. Where rounding is in the way of `tol` there is a second pass.
    Bounds check(const std::vector<double>& w, std::vector<Visited>& visited, double tol) {
        if (!best_.q.empty() && best_.u.empty()) {
            const std::vector<double> q = best_.q;
            evaluate(loss_, problem_, w, team_, monitor_, best_,
                     [&](std::size_t i, double) { return loss_.clip(q[i]); });
        }
        const bool first = best_.q.empty();
        DualPoint fresh;
        const Bound primal =
            evaluate(loss_, problem_, w, team_, monitor_, fresh, [&](std::size_t i, double z) {
                Visited& row = visited[i];
                const double q = row.visits ? loss_.clip(row.slopes / static_cast<double>(row.visits))
                                            : loss_.slope(z, problem_.labels[i]);
                row.visits = 0;
                row.slopes = 0;
                return q;
            });
        fresh.rescale();
        if (first) {
            best_ = std::move(fresh);
        } else {
            best_.join(fresh);
            best_.rescale();
        }
        Bounds found = between(primal, best_.value());
        if (found.wants_care(tol) && !monitor_.timed_out())
            look_closely(loss_, problem_, w, team_, monitor_, best_, found);
        return found;
    }

    /// Joins another dual point, given by its q; the bound with it.
    Bound include(const std::vector<double>& q, const std::vector<double>& w) {
        DualPoint point;
        evaluate(loss_, problem_, w, team_, monitor_, point, [&](std::size_t i, double) { return q[i]; });
        point.rescale();
        best_.join(point);
        best_.rescale();
        return best_.value();
    }

    std::vector<double> take_dual() { return std::move(best_.q); }

private:
    const Loss loss_;
    const Problem<Rows>& problem_;
    Team& team_;
    Monitor& monitor_;
    DualPoint best_;
};

}  // namespace pegasos
