// How far from the optimum, whatever the problem: a primal value and a true lower bound from a dual point.
//
// A problem's pass over its rows (`Pass`) computes both. It asks for the dual variables a block of rows at a
// time (`SlopeFunction`), and allows for its own rounding. What is made of the results is here and the same
// for all: the closer look where rounding is in the way, the dual point that joins all those met in a run.
//
// A stochastic run yields a dual point whatever its step sizes, batches, projections and order of visits: the
// mean slope met at the visits of each row. A mean of slopes is a feasible point for every convex loss
// (Jensen). Each check starts a new count. The point it yields is joined with the best one so far by the
// convex combination of largest dual value, so that the bound can only rise, and early visits, made when w
// was still far off, fade out.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/bounds.hpp"
#include "base/function_ref.hpp"
#include "base/monitor.hpp"
#include "base/rounding.hpp"
#include "base/state.hpp"

namespace pegasos {

/// A feasible dual point: q, and what is needed of it to evaluate and to combine. The point is the exact one
/// that operations on exact numbers would lead to; `linear` and u may be off by the errors, u in norm.
struct DualPoint {
    std::vector<double> q;
    std::vector<double> u;
    double linear = 0;  // C sum_i s_i dual(q_i), or less
    double linear_error = 0, error = 0;

    Bound value() const;

    /// q <- c q with the best c in [0, 1]. Valid for concave dual() with dual(0) >= 0: then dual(c q) >= c
    /// dual(q).
    void rescale();

    /// q <- (1 - share) q + share other.q with the best share in [0, 1].
    void join(const DualPoint& other);

    void state(State& state) { state(q, u, linear, linear_error, error); }

private:
    void multiply(double c, double square);
};

/// The primal value, from its norm, its losses and what rounding may add to the losses, all but the norm
/// without C.
inline Bound primal_bound(double square, double C, double losses, double slack, std::size_t n_rows,
                          std::size_t dimension) {
    const double value = square / 2 + C * losses;
    const double above = 1.01 * C * slack + (24 * unit + sum_error(n_rows) + sum_error(dimension)) * value;
    const bool above_zero = square > 0 || (C > 0 && (losses > 0 || slack > 0));
    const double bound = not_lost(value + above, above_zero);
    return {bound, value + above > 0 ? above : bound};
}

/// Fills in the q of the rows [first, last), given their scores or margins z, as many for each row as q has.
using SlopeFunction = FunctionRef<void(std::size_t first, std::size_t last, const double* z, double* q)>;

/// One pass over the rows of a problem, at the weights that it is made for.
class Pass {
public:
    virtual ~Pass() = default;

    /// The primal value, and the dual point of these slopes; on request in twice the precision.
    virtual Bound make(DualPoint& point, const SlopeFunction& slopes, bool careful = false) const = 0;

    /// The slopes of a dual point, for the rows [first, last).
    virtual void slopes_of(const DualPoint& point, std::size_t first, std::size_t last, double* q) const = 0;

    /// The bounds of these slopes. Where rounding is in the way of `tol` there is a second pass.
    Bounds bounds(DualPoint& point, const SlopeFunction& slopes, double tol, const Monitor& monitor) const;

    /// The pass again in twice the precision, with the slopes of the point. Where that makes better bounds,
    /// the point and `bounds` have them.
    void look_closely(DualPoint& point, Bounds& bounds) const;
};

/// Follows a run: bounds at every check, and the best dual point so far.
class Certifier {
public:
    explicit Certifier(const Monitor& monitor) : monitor_(monitor) {}

    /// Starts from the dual point of an earlier fit of the same rows, if there was one.
    void resume(std::vector<double> q) { best_.q = std::move(q); }

    /// Bounds at the weights of the pass after the slopes met. The last of them is the certificate: P is
    /// computed at w, and u from q in this pass, as those of the earlier points it is joined with were in
    /// theirs. Where rounding is in the way of `tol` there is a second pass.
    Bounds check(const Pass& pass, const SlopeFunction& slopes, double tol);

    /// Joins another dual point, given by its q; the bound with it.
    Bound include(const Pass& pass, const std::vector<double>& q);

    std::vector<double> take_dual() { return std::move(best_.q); }

    void state(State& state) { state(best_); }

private:
    const Monitor& monitor_;
    DualPoint best_;
};

}  // namespace pegasos
