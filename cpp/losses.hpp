// One struct per loss, in the margin z = y <w, x>. Nothing else in the core knows losses.
//
// For a loss l with slope(z) in -dl(z), the dual variable of a row of weight s is alpha = C s q with q =
// slope(z), and what it adds to the dual is C s * dual(q), dual(q) = -l*(-q).
#pragma once

#include <algorithm>

namespace pegasos {

/// l(z) = max(0, 1 - z), with S0's choice of the sub-gradient at the corner: zero at z = 1.
struct Hinge {
    static double value(double z) { return z < 1 ? 1 - z : 0; }
    static double slope(double z) { return z < 1 ? 1 : 0; }
    static double dual(double q) { return q; }

    /// The alpha in [0, bound] that maximises the dual along its own coordinate, from the margin z at the
    /// present one.
    static double ascend(double alpha, double bound, double z, double square) {
        return std::clamp(alpha + (1 - z) / square, 0.0, bound);
    }
};

}  // namespace pegasos
