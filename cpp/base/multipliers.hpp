// The intercept by the method of multipliers, for dual coordinate ascent.
//
// Plain coordinate ascent on the weight of a constant feature is slow, as every visit moves it and with it
// all margins. The dual has the term -B^2/2 sigma^2, sigma = sum_i alpha_i y_i, B the constant feature; a
// free intercept (B infinite) has the constraint sigma = 0 instead. Write s for sigma in that term, and
// ascend on
//   D(alpha, s) - b (sigma - s) - rho/2 (sigma - s)^2
// with the best s for each alpha, and b <- b + rho (sigma - s) after each epoch. Eliminating s, margins are
// those at the intercept kappa b + step sigma, with kappa = step/rho, 1/step = 1/B^2 + 1/rho, which is the
// next b. At the end sigma = b/B^2, or 0. rho = infinity is plain coordinate ascent. The last entry of w is
// B sigma (B = 1 for a free intercept).
#pragma once

#include <algorithm>
#include <cmath>

namespace pegasos {

struct Multipliers {
    double bias = 0;  // the constant feature, B; 0: there is no intercept
    double kappa = 0, step = 0;
    double slope = 0;  // of the intercept in w's last entry, less that of a constant feature

    Multipliers() = default;
    Multipliers(double bias, double rho, bool free = false)
        : bias(bias),
          kappa(free ? 1 : bias * bias / (bias * bias + rho)),
          step(std::isinf(rho) ? bias * bias : kappa * rho),
          slope((step - bias * bias) / bias) {}

    /// A share of the mean squared norm of the rows, of which `squares` is the sum without the constant
    /// feature: the fewer rows, the larger. `cost` is C sum(s).
    static double choose_rho(double squares, double n_rows, double cost, double least_share = 0.01) {
        const double mean = squares > 0 ? squares / n_rows : 1;
        return std::max(std::clamp(10 / n_rows, least_share, 1.0) * mean, 4 / cost);
    }

    /// What a change of a dual variable by one changes the intercept by, beyond what a constant feature
    /// would: to be added to the squared norm of every row.
    double extra_square() const { return step - bias * bias; }
    /// What margins are computed with, given b and the last entry of w: the next b.
    double intercept(double b, double last) const { return bias > 0 ? kappa * b + step * last / bias : 0; }
};

}  // namespace pegasos
