// The Perceptron (S4 section 4.5): a row on which w errs, y <w, x> <= 0, is added to w, with weight s. No
// step size, no shrinking. It does not minimise the objective, but its w is evaluated, and its mistakes are a
// feasible dual point.
#pragma once

#include "linear/solvers/pegasos.hpp"

namespace pegasos {

struct PerceptronSteps {
    double step;  // such that a mistake adds y_i s_i x_i

    StepSize operator()(std::uint64_t) const { return {step, 1}; }
    static double slope(double z) { return z <= 0 ? 1 : 0; }
};

}  // namespace pegasos
