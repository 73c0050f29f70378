// The bounds of a linear problem: one pass over its rows for the primal value of a weight vector and a dual
// point (base/certificate.hpp).
//
// The dual of 1/2 ||w||^2 + C sum_i s_i loss(y_i <w, x_i>) is, with alpha_i = C s_i q_i,
//     D(q) = C sum_i s_i dual(q_i) - 1/2 ||u||^2,    u = sum_i alpha_i y_i x_i,
// for hinge 0 <= q_i <= 1 and dual(q) = q; for regression the signs y_i are 1 (losses.hpp). Any such q gives
// D <= optimum <= P. The q of a stochastic run is the mean slope met at the visits of row i (for hinge the
// fraction of its visits at which it was a margin error); for whole epochs of plain Pegasos it is S3's dual
// point, eq. 11. A check reads every row once for the primal; for rows not drawn since the last check that
// reading is the visit.
//
// With a free intercept dual points also satisfy sum_i alpha_i y_i = 0, without which the intercept could
// make the Lagrangian as small as one likes. The pass makes any q so: of the alpha_i y_i above zero and those
// below (the two classes), it multiplies those of larger sum by the quotient of the sums. The last entry of u
// is then zero, and so it stays when points are joined.
//
// All sums are double; the long ones are compensated. Bounds allow for their rounding (rounding.hpp):
//
//   P   a score may be off by e_i = (entries + 8) u ||w|| ||x_i||, for regression 2 u |y_i| more, and each
//       loss knows what that may add to it (`excess`): nothing, where a row is beyond the corner. Values of
//       losses, their sum and the norm are right to 24 u.
//   D   sum C s_i dual(q_i) is right to 32 u times the sum of the sizes of its terms. u is a sum of rows,
//       whose error in norm (`Reach`) follows the point when it is multiplied, joined or balanced: the point
//       that is meant is the exact one, which is feasible, and the number u belongs to it but for that error.
//
// (n u)^2 more, for n rows, is what is left of compensated sums. Where this is what keeps the gap from `tol`,
// or most of the gap, the pass is made again in twice the precision; where it still is, no step can help.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/certificate.hpp"
#include "base/solution.hpp"
#include "linear/problem.hpp"

namespace pegasos {

/// What a solver keeps of each row, in one place so that a visit touches one cache line.
struct Visited {
    double signed_weight;  // y_i s_i
    std::uint32_t visits = 0;
    float slopes = 0;  // sum of the slopes met

    double label() const { return std::copysign(1.0, signed_weight); }
    double weight() const { return std::abs(signed_weight); }
};

/// Nothing met yet.
std::vector<Visited> not_visited(const Problem& problem);

/// What brings sum y alpha to zero, as a free intercept asks: factors for the alphas of the two classes,
/// given the sums of these.
template <class Number>
std::pair<Number, Number> balance(const Number& negative, const Number& positive) {
    if (negative > positive) return {positive / negative, Number{1}};
    if (positive > negative) return {Number{1}, negative / positive};
    return {Number{1}, Number{1}};
}

/// The pass at w. A dual point is balanced where the intercept is free. Where it is penalised, it pays for
/// sum y alpha: with `lightened` the heavier class gets the factor of largest dual value, unless the pass is
/// careful.
class LinearPass final : public Pass {
public:
    LinearPass(const Problem& problem, const std::vector<double>& w, Context& context, bool lightened = false)
        : problem_(problem), w_(w), team_(context.team), monitor_(context.monitor), lightened_(lightened) {}

    Bound make(DualPoint& point, const SlopeFunction& slopes, bool careful = false) const override;
    void slopes_of(const DualPoint& point, std::size_t first, std::size_t last, double* q) const override;

    /// The dual point of the slopes met in a run; rows not met have the slope they have at w.
    void mean_slopes(const std::vector<Visited>& visited, std::size_t first, std::size_t last,
                     const double* z, double* q) const;

    /// Bounds after the slopes met since the check before; the counts start again.
    Bounds check(Certifier& certifier, std::vector<Visited>& visited, double tol) const;

private:
    const Problem& problem_;
    const std::vector<double>& w_;
    Team& team_;
    Monitor& monitor_;
    const bool lightened_;
};

/// Bounds of a w and a q from elsewhere.
Bounds certify(const Problem& problem, const std::vector<double>& w, const std::vector<double>& q, double tol,
               Context& context);

}  // namespace pegasos
