// One struct per loss. Nothing else in the core knows losses.
//
// A loss l is convex in z: for classification z = y <w, x> is the margin, y = +-1; for regression z = <w, x>,
// y is the target, and the loss depends on it. slope(z) is q in -dl(z). The dual variable of a row of cost
// c = C s is alpha = c q, it acts on w as alpha sign(y) x, and it adds to the dual
//   dual(alpha, c) = -c l*(-alpha / c)      (l* the conjugate; 0 at alpha = 0, concave).
// For every z the gap of the row, c l(z) - dual(alpha, c) + alpha z, is >= 0, and 0 where alpha = c slope(z).
//
// A function has the same parameters in all losses, also where a loss does not depend on one of them.
//
// value(z, y): the loss. slope(z, y): q as above, at a corner one of several. clip(q): the nearest q whose
// dual is finite. curvature: the largest second derivative where slopes have no bound, else 0; steps of size
// 1/t leave out those that would overshoot. corners: of losses of targets, for the interior-point method.
// ascend: the alpha that maximises the dual along its own coordinate, from z at the present alpha, where a
// change of alpha by one changes z by `square`.
// pull: the derivative of minus the dual there, as far as alpha is free to follow it (`projected`), and how
// far the corner that alpha sits at, a bound or a kink, is from giving way (`outward`; 0: at no corner).
// bend: the second derivative in z, of losses without corners; where it jumps, either value. chord: the
// curvature of the parabola that touches the loss at z and is nowhere below it, where bend may be far less.
//
// For bounds that allow for rounding: values are right to 8 units (2^-53) relatively, where they do not
// underflow, and never 0 where they are not. excess: at least what
// the loss, `value` at z, grows by where z is off by up to e, and the rounding of a difference that value
// does not show; not finite where e is not. size_of_dual: of the terms of dual(q, 1) = `dual`, which is right
// to 16 units of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "base/rounding.hpp"
#include "base/vector_math.hpp"

namespace pegasos {

struct Pull {
    double projected, outward;

    /// Of a gradient where alpha sits at the lower or the upper bound, or at none.
    static Pull within(double gradient, bool lowest, bool highest) {
        if (lowest) return {std::min(gradient, 0.0), std::max(gradient, 0.0)};
        if (highest) return {std::max(gradient, 0.0), std::max(-gradient, 0.0)};
        return {gradient, 0};
    }
};

/// In regression: errors that cost nothing, what a unit of error costs beyond of targets above and below the
/// score, and over how much of it the corner is round.
struct Corners {
    double epsilon = 0, above = 1, below = 1, width = 0;
};

/// Classification: the sign of a row is its label.
struct Classification {
    static constexpr bool regression = false;
    static Corners corners() { return {}; }
    static double sign(double y) { return y; }
};

/// Regression: a row has no sign.
struct Regression {
    static constexpr bool regression = true;
    static double sign(double) { return 1; }
};

/// l(z) = max(0, 1 - z), with S0's choice of the sub-gradient at the corner: zero at z = 1. 0 <= q <= 1.
struct Hinge : Classification {
    static constexpr double curvature = 0;  // the largest second derivative, where slopes have no bound

    double value(double z, double) const { return z < 1 ? 1 - z : 0; }
    double slope(double z, double) const { return z < 1 ? 1 : 0; }
    double dual(double alpha, double, double) const { return alpha; }
    double excess(double z, double, double e, double) const {
        return std::max(std::min(e, (1 - z) + e), 0.0);
    }
    double size_of_dual(double, double, double dual) const { return dual; }
    double clip(double q) const { return std::clamp(q, 0.0, 1.0); }
    double ascend(double alpha, double c, double z, double square, double) const {
        return std::clamp(alpha + (1 - z) / square, 0.0, c);
    }
    Pull pull(double alpha, double c, double z, double) const {
        return Pull::within(z - 1, alpha == 0, alpha == c);
    }
};

/// l(z) = max(0, 1 - z)^2. q >= 0, l*(-q) = q^2/4 - q.
struct SquaredHinge : Classification {
    static constexpr double curvature = 2;

    double value(double z, double) const { return z < 1 ? (1 - z) * (1 - z) : 0; }
    double slope(double z, double) const { return z < 1 ? 2 * (1 - z) : 0; }
    double bend(double z, double) const { return z < 1 ? 2 : 0; }
    double dual(double alpha, double c, double) const { return alpha - alpha * alpha / (4 * c); }
    double excess(double z, double, double e, double) const {
        return std::max(std::min(e, (1 - z) + e), 0.0) * (2 * std::max(1 - z, 0.0) + e);
    }
    double size_of_dual(double q, double, double) const { return q + q * q / 4; }
    double clip(double q) const { return std::max(q, 0.0); }
    double ascend(double alpha, double c, double z, double square, double) const {
        const double own = 1 / (2 * c);
        return std::max(alpha + (1 - z - own * alpha) / (square + own), 0.0);
    }
    Pull pull(double alpha, double c, double z, double) const {
        return Pull::within(z - 1 + alpha / (2 * c), alpha == 0, false);
    }
};

/// l(z) = log(1 + exp(-z)). 0 <= q <= 1, -l*(-q) = -q log q - (1 - q) log(1 - q).
struct LogLoss : Classification {
    static constexpr double curvature = 0;

    double value(double z, double) const {
        return z > 0 ? std::max(std::log1p(std::exp(-z)), least) : std::log1p(std::exp(z)) - z;
    }
    double slope(double z, double) const { return logistic(-z); }
    double bend(double z, double) const { return logistic(z) * logistic(-z); }
    /// The rounding of 1 - q, which is `lost`, would be felt where q is small: it is taken back.
    double dual(double alpha, double c, double) const {
        const double q = alpha / c, other = 1 - q, lost = (1 - other) - q;
        if (!(q > 0)) return 0;
        const double log = other > 0 ? std::log(other) : 0;
        return c * (-q * std::log(q) - other * log - lost * (1 + log));
    }
    /// The slope is below 1 and below the loss, and grows by less than e.
    double excess(double, double, double e, double value) const { return e * std::min(1.0, value + e); }
    double size_of_dual(double, double, double dual) const { return dual; }
    double clip(double q) const { return std::clamp(q, 0.0, 1.0); }

    /// q = logistic(t) where -t = z + size (q - q0), size = c square: a function that falls in t, with
    /// derivatives between -1 - size/4 and -1. Newton's steps with Chebyshev's term of second order, kept in
    /// the bracket: a step is right but for its cube.
    double ascend(double alpha, double c, double z, double square, double) const {
        const double before = alpha / c, size = c * square;
        double low = -z - size * (1 - before), high = -z + size * before;
        double t = std::clamp(-z, low, high);
        for (int times = 0; times < 50; ++times) {
            const double q = logistic(t), bend = q * (1 - q), turn = 0.5 - q;
            const double error = -t - z - size * (q - before), fall = 1 / (1 + size * bend);
            const double newton = error * fall, second = newton * size * bend * turn * fall;
            const double step = std::abs(newton) < 1 ? newton - newton * second : newton;
            if (std::abs(newton) <= 1e-5 + 1e-15 * std::abs(t))
                return c * std::clamp(q + bend * step * (1 + turn * step), 0.0, 1.0);
            (error > 0 ? low : high) = t;
            t += step;
            if (!(t > low && t < high)) t = low + (high - low) / 2;
        }
        return c * logistic(t);
    }
    /// No corners. SlopeFunction in place of the derivative, which is infinite at the bounds.
    Pull pull(double alpha, double c, double z, double) const { return {alpha / c - slope(z, 0), 0}; }

private:
    static double logistic(double t) { return 1 / (1 + std::exp(-t)); }
};

/// The log loss for estimates: its functions without branches and calls.
struct FastLogLoss : Classification {
    double value(double z, double) const { return std::max(-z, 0.0) + fast_log(1 + fast_exp(-std::abs(z))); }
    double dual(double alpha, double c, double) const {
        return c * (entropy(alpha / c) + entropy(1 - alpha / c));
    }
    Pull pull(double alpha, double c, double z, double) const {
        return {alpha / c - 1 / (1 + fast_exp(z)), 0};
    }

private:
    static double entropy(double q) { return -q * fast_log(std::max(q, 1e-300)); }
};

/// The loss whose functions make estimates.
template <class Loss>
Loss for_estimates(const Loss& loss) {
    return loss;
}
inline FastLogLoss for_estimates(const LogLoss&) { return {}; }

/// l(z) = max(0, |z - y| - epsilon). |q| <= 1, -l*(-q) = y q - epsilon |q|.
struct EpsilonInsensitive : Regression {
    static constexpr double curvature = 0;
    double epsilon = 0;

    Corners corners() const { return {.epsilon = epsilon}; }
    double value(double z, double y) const { return std::max(std::abs(z - y) - epsilon, 0.0); }
    double slope(double z, double y) const { return y - z > epsilon ? 1 : z - y > epsilon ? -1 : 0; }
    double dual(double alpha, double, double y) const { return y * alpha - epsilon * std::abs(alpha); }
    double excess(double z, double y, double e, double) const {
        e += 4 * unit * epsilon;
        return std::abs(z - y) - epsilon < -2 * e ? 0 : e;
    }
    double size_of_dual(double q, double y, double) const { return (std::abs(y) + epsilon) * std::abs(q); }
    double clip(double q) const { return std::clamp(q, -1.0, 1.0); }
    double ascend(double alpha, double c, double z, double square, double y) const {
        const double target = y - z + square * alpha, beyond = std::max(std::abs(target) - epsilon, 0.0);
        return beyond > 0 ? std::clamp(std::copysign(beyond / square, target), -c, c) : 0;
    }
    Pull pull(double alpha, double c, double z, double y) const {
        const double error = z - y;
        if (alpha == 0) {
            const double beyond = std::abs(error) - epsilon;
            return {beyond > 0 ? std::copysign(beyond, error) : 0, std::max(-beyond, 0.0)};
        }
        return Pull::within(error + std::copysign(epsilon, alpha), alpha == -c, alpha == c);
    }
};

/// l(z) = max(0, |z - y| - epsilon)^2. -l*(-q) = y q - epsilon |q| - q^2/4.
struct SquaredEpsilonInsensitive : Regression {
    static constexpr double curvature = 2;
    double epsilon = 0;

    Corners corners() const { return {.epsilon = epsilon}; }
    double value(double z, double y) const {
        const double beyond = std::max(std::abs(z - y) - epsilon, 0.0);
        return not_lost(beyond * beyond, beyond > 0);
    }
    double slope(double z, double y) const {
        return std::copysign(2 * std::max(std::abs(z - y) - epsilon, 0.0), y - z);
    }
    double bend(double z, double y) const { return std::abs(z - y) > epsilon ? 2 : 0; }
    double dual(double alpha, double c, double y) const {
        return y * alpha - epsilon * std::abs(alpha) - alpha * alpha / (4 * c);
    }
    double excess(double z, double y, double e, double) const {
        e += 4 * unit * epsilon;
        const double beyond = std::abs(z - y) - epsilon;
        return beyond < -2 * e ? 0 : not_lost(e * (2 * std::max(beyond, 0.0) + e), e > 0);
    }
    double size_of_dual(double q, double y, double) const {
        return (std::abs(y) + epsilon + std::abs(q) / 4) * std::abs(q);
    }
    double clip(double q) const { return q; }
    double ascend(double alpha, double c, double z, double square, double y) const {
        const double target = y - z + square * alpha, beyond = std::max(std::abs(target) - epsilon, 0.0);
        return std::copysign(beyond / (square + 1 / (2 * c)), target);
    }
    Pull pull(double alpha, double c, double z, double y) const {
        const double error = z - y;
        if (alpha == 0) {
            const double beyond = std::abs(error) - epsilon;
            return {beyond > 0 ? std::copysign(beyond, error) : 0, std::max(-beyond, 0.0)};
        }
        return {error + std::copysign(epsilon, alpha) + alpha / (2 * c), 0};
    }
};

/// l(z) = r^2/2 where |r| <= epsilon, epsilon |r| - epsilon^2/2 beyond, r = y - z. |q| <= epsilon,
/// -l*(-q) = y q - q^2/2. The second derivative is 1 at most, and slopes have a bound: no step overshoots.
struct Huber : Regression {
    static constexpr double curvature = 0;
    double epsilon = 1;

    Corners corners() const { return {.above = epsilon, .below = epsilon, .width = epsilon}; }
    double value(double z, double y) const {
        const double error = std::abs(z - y);
        const double value = error <= epsilon ? error * error / 2 : epsilon * (error - epsilon / 2);
        return not_lost(value, error > 0);
    }
    double slope(double z, double y) const { return std::clamp(y - z, -epsilon, epsilon); }
    double bend(double z, double y) const { return std::abs(z - y) <= epsilon ? 1 : 0; }
    double chord(double z, double y) const { return epsilon / std::max(std::abs(z - y), epsilon); }
    double dual(double alpha, double c, double y) const { return y * alpha - alpha * alpha / (2 * c); }
    double excess(double z, double y, double e, double) const {
        return not_lost(e * std::min(std::abs(z - y) + e, epsilon), e > 0);
    }
    double size_of_dual(double q, double y, double) const {
        return (std::abs(y) + std::abs(q) / 2) * std::abs(q);
    }
    double clip(double q) const { return std::clamp(q, -epsilon, epsilon); }
    double ascend(double alpha, double c, double z, double square, double y) const {
        const double own = 1 / c;
        return std::clamp(alpha + (y - z - own * alpha) / (square + own), -epsilon * c, epsilon * c);
    }
    Pull pull(double alpha, double c, double z, double y) const {
        return Pull::within(z - y + alpha / c, alpha == -epsilon * c, alpha == epsilon * c);
    }
};

/// l(z) = t r where r >= 0, (t - 1) r where r < 0, r = y - z, t the quantile. t - 1 <= q <= t, -l*(-q) = y q.
struct Quantile : Regression {
    static constexpr double curvature = 0;
    double quantile = 0.5;

    Corners corners() const { return {.above = quantile, .below = 1 - quantile}; }
    double value(double z, double y) const {
        return not_lost((z < y ? quantile : quantile - 1) * (y - z), z != y);
    }
    double slope(double z, double y) const { return z < y ? quantile : z > y ? quantile - 1 : 0; }
    double dual(double alpha, double, double y) const { return y * alpha; }
    double excess(double, double, double e, double) const {
        return not_lost(e * std::max(quantile, 1 - quantile), e > 0);
    }
    double size_of_dual(double q, double y, double) const { return std::abs(y * q); }
    double clip(double q) const { return std::clamp(q, quantile - 1, quantile); }
    double ascend(double alpha, double c, double z, double square, double y) const {
        const double low = (quantile - 1) * c, high = quantile * c;
        if (square == 0) return z < y ? high : z > y ? low : alpha;
        return std::clamp(alpha + (y - z) / square, low, high);
    }
    Pull pull(double alpha, double c, double z, double y) const {
        return Pull::within(z - y, alpha == (quantile - 1) * c, alpha == quantile * c);
    }
};

/// Any of the losses, chosen at run time. A loop that the choice would slow down is compiled for each of
/// them, inside `visit`.
class AnyLoss {
public:
    template <class Loss>
    AnyLoss(const Loss& loss)
        : curvature(Loss::curvature), regression(Loss::regression), corners(loss.corners()), loss_(loss) {}

    /// The loss of that name; those for regression have a parameter, epsilon or the quantile.
    static AnyLoss named(const std::string& name, double parameter) {
        if (name == "hinge") return Hinge{};
        if (name == "squared_hinge") return SquaredHinge{};
        if (name == "log_loss") return LogLoss{};
        if (name == "epsilon_insensitive") return EpsilonInsensitive{{}, parameter};
        if (name == "squared_epsilon_insensitive") return SquaredEpsilonInsensitive{{}, parameter};
        if (name == "huber") return Huber{{}, parameter};
        if (name == "quantile") return Quantile{{}, parameter};
        throw std::invalid_argument("unknown loss '" + name + "'");
    }

    double curvature;
    bool regression;
    Corners corners;

    /// f(loss), with the loss that it is.
    template <class F>
    decltype(auto) visit(F&& f) const {
        return std::visit(std::forward<F>(f), loss_);
    }
    template <class Loss>
    bool is() const {
        return std::holds_alternative<Loss>(loss_);
    }

    double sign(double y) const { return regression ? 1 : y; }
    double value(double z, double y) const {
        return visit([&](const auto& loss) { return loss.value(z, y); });
    }
    double slope(double z, double y) const {
        return visit([&](const auto& loss) { return loss.slope(z, y); });
    }
    double dual(double alpha, double c, double y) const {
        return visit([&](const auto& loss) { return loss.dual(alpha, c, y); });
    }
    double size_of_dual(double q, double y, double dual) const {
        return visit([&](const auto& loss) { return loss.size_of_dual(q, y, dual); });
    }
    double clip(double q) const {
        return visit([&](const auto& loss) { return loss.clip(q); });
    }

private:
    std::variant<Hinge, SquaredHinge, LogLoss, EpsilonInsensitive, SquaredEpsilonInsensitive, Huber, Quantile>
        loss_;
};

}  // namespace pegasos
