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
// All sums are double; the long ones are compensated.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "losses.hpp"
#include "monitor.hpp"
#include "problem.hpp"
#include "threads.hpp"

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

/// A feasible dual point: q, and what is needed of it to evaluate and to combine.
struct DualPoint {
    std::vector<double> q;
    std::vector<double> u;
    double linear = 0;  // C sum_i s_i dual(q_i), or less

    double value() const { return linear - squared_norm(u) / 2; }

    /// q <- c q with the best c in [0, 1]. Valid for concave dual() with dual(0) >= 0: then dual(c q) >= c
    /// dual(q).
    void rescale() {
        const double square = squared_norm(u);
        const double c = square > linear ? std::max(linear / square, 0.0) : 1;
        if (c < 1) multiply(c);
    }

    /// q <- (1 - share) q + share other.q with the best share in [0, 1].
    void join(const DualPoint& other) {
        double along = 0, square = 0;  // of the derivative at share = 0, and the curvature
        for (std::size_t j = 0; j < u.size(); ++j) {
            const double d = other.u[j] - u[j];
            along += u[j] * d;
            square += d * d;
        }
        const double rise = other.linear - linear - along;
        if (!(rise > 0)) return;
        const double share = square > rise ? rise / square : 1;
        multiply(1 - share);
        linear += share * other.linear;
        for (std::size_t j = 0; j < u.size(); ++j) u[j] += share * other.u[j];
        for (std::size_t i = 0; i < q.size(); ++i) q[i] += share * other.q[i];
    }

private:
    void multiply(double c) {
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

    double gap() const { return relative_gap(primal, dual); }
    double rounding() const { return above + below; }
    /// Whether what is left between the bounds is rounding for the most part, so that no more steps can help.
    bool mostly_rounding() const { return rounding() > 0 && primal - dual <= 2 * rounding(); }
};

/// What brings sum y alpha to zero, as a free intercept asks: factors for the alphas of the two classes,
/// given the sums of these.
inline std::pair<double, double> balance(double negative, double positive) {
    if (negative > positive) return {positive / negative, 1.0};
    if (positive > negative) return {1.0, negative / positive};
    return {1.0, 1.0};
}

/// A penalised intercept pays for sum y alpha, its entry of u: the heavier class gets the factor in [0, 1] of
/// largest dual value, given the `linear` and u of each class.
inline std::pair<double, double> lighten(const double linear[2], const std::vector<double> u[2]) {
    const int heavy = u[0].back() + u[1].back() > 0;
    double cross = 0, square = 0;
    for (std::size_t j = 0; j < u[0].size(); ++j) {
        cross += u[0][j] * u[1][j];
        square += u[heavy][j] * u[heavy][j];
    }
    const double factor = square > 0 ? std::clamp((linear[heavy] - cross) / square, 0.0, 1.0) : 1;
    return heavy ? std::pair{1.0, factor} : std::pair{factor, 1.0};
}

/// One pass over the rows: the exact primal value at w and, from `slope(i, z)`, a dual point, balanced where
/// the intercept is free, and on request where it is penalised. The time limit does not end it (a fit that
/// ran out of time is still certified), an interrupt does. Each thread of the team takes a range of rows and
/// sums into vectors of its own.
template <class Loss, class Rows, class Slope>
double evaluate(const Loss& loss, const Problem<Rows>& problem, const std::vector<double>& w, Team& team,
                Monitor& monitor, DualPoint& point, Slope slope, bool balanced = false) {
    const auto& rows = problem.rows;
    const int n_groups =
        problem.free_intercept || (balanced && rows.bias > 0) ? 2 : 1;  // the two classes apart
    point.q.resize(rows.n_rows);
    struct Group {
        Sum linear, alpha;
        std::vector<double> u;
    };
    struct Part {
        Sum losses;
        Group groups[2];
    };
    constexpr std::size_t ahead = 16;  // rows; the hardware alone stops at the ends of pages
    std::vector<Part> parts(team.size());
    team.run_ranges(rows.n_rows, [&](std::size_t k, std::size_t first, std::size_t last) {
        Part& part = parts[k];
        for (int g = 0; g < n_groups; ++g) part.groups[g].u.assign(problem.dimension(), 0.0);
        for (std::size_t i = first; i < last && !team.failed(); ++i) {
            if (i + ahead < last) rows.prefetch_row(i + ahead);
            const double y = problem.labels[i], sign = loss.sign(y), s = problem.weights[i];
            const double z = sign * rows.dot(i, w.data());
            part.losses.add(s * loss.value(z, y));
            const double q = point.q[i] = slope(i, z);
            Group& mine = part.groups[n_groups == 2 && sign * q > 0];
            mine.linear.add(s * loss.dual(q, 1, y));
            if (problem.free_intercept) mine.alpha.add(s * std::abs(q));
            if (q != 0) rows.add(i, problem.C * s * q * sign, mine.u.data());
            if (k == 0) monitor.worked(rows.entries(i));
        }
    });
    Sum losses;
    double linear[2] = {0, 0}, alpha[2] = {0, 0};
    std::vector<double> u[2];
    for (const Part& part : parts) losses.add(part.losses.value());
    for (int g = 0; g < n_groups; ++g) {
        Sum sum, alphas;
        u[g].assign(problem.dimension(), 0.0);
        for (const Part& part : parts) {
            sum.add(part.groups[g].linear.value());
            alphas.add(part.groups[g].alpha.value());
            for (std::size_t j = 0; j < part.groups[g].u.size(); ++j) u[g][j] += part.groups[g].u[j];
        }
        linear[g] = problem.C * sum.value();
        alpha[g] = alphas.value();
    }
    if (n_groups == 2) {
        const auto [negative, positive] =
            problem.free_intercept ? balance(alpha[0], alpha[1]) : lighten(linear, u);
        linear[0] = negative * linear[0] + positive * linear[1];
        for (std::size_t j = 0; j < u[0].size(); ++j) u[0][j] = negative * u[0][j] + positive * u[1][j];
        if (negative != positive)
            for (std::size_t i = 0; i < rows.n_rows; ++i)
                point.q[i] *= loss.sign(problem.labels[i]) * point.q[i] > 0 ? positive : negative;
        if (problem.free_intercept) u[0].back() = 0;
    }
    point.linear = linear[0];
    point.u = std::move(u[0]);
    return squared_norm(w, problem.n_penalized()) / 2 + problem.C * losses.value();
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
    /// joined with were in theirs.
    Bounds check(const std::vector<double>& w, std::vector<Visited>& visited) {
        if (!best_.q.empty() && best_.u.empty()) {
            const std::vector<double> q = best_.q;
            evaluate(loss_, problem_, w, team_, monitor_, best_, [&](std::size_t i, double) { return q[i]; });
        }
        const bool first = best_.q.empty();
        DualPoint fresh;
        const double primal =
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
        return {primal, best_.value()};
    }

    /// Joins another dual point, given by its q; the bound with it.
    double include(const std::vector<double>& q, const std::vector<double>& w) {
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
