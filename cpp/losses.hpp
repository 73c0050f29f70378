// One struct per loss, in the margin z = y <w, x>. Nothing else in the core knows losses.
//
// For a loss l with slope(z) in -dl(z), the dual variable of a row of weight s is alpha = C s q with q =
// slope(z), and what it adds to the dual is C s * dual(q), dual(q) = -l*(-q).
#pragma once

namespace pegasos {

/// l(z) = max(0, 1 - z), with S0's choice of the sub-gradient at the corner: zero at z = 1.
struct Hinge {
    static double value(double z) { return z < 1 ? 1 - z : 0; }
    static double slope(double z) { return z < 1 ? 1 : 0; }
    static double dual(double q) { return q; }
};

}  // namespace pegasos
