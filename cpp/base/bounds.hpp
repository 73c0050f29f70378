// What a run knows of the optimum: bounds on it, and when they end the run.
#pragma once

#include <algorithm>
#include <limits>

#include "base/rounding.hpp"

namespace pegasos {

/// (P - D) / D with D cut off at zero; 0 when both are 0.
inline double relative_gap(double primal, double dual) {
    dual = std::max(dual, 0.0);
    if (primal <= dual) return 0;
    return dual > 0 ? (primal - dual) / dual : std::numeric_limits<double>::infinity();
}

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

/// The bounds of a primal value and a dual one. Where they are tiny they allow for what underflow may have
/// lost.
inline Bounds between(const Bound& primal, const Bound& dual) {
    const double lost = primal.value > 0 && primal.value < 0x1p-960 ? 0x1p-1050 : 0;
    return {primal.value + lost, dual.value - lost, primal.rounding + lost, dual.rounding + lost};
}

}  // namespace pegasos
