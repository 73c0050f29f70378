// SGD on the average hinge loss under ||w|| <= B (S4 section 4.2): no regulariser, a projection instead, and
// the step sizes of Zinkevich and Zhang for it, eta_t = B / (R sqrt(t)), R the largest norm of a row.
#pragma once

#include <cmath>

#include "linear/solvers/pegasos.hpp"

namespace pegasos {

struct NormBallSteps {
    double first;  // B / R

    StepSize operator()(std::uint64_t t) const { return {first / std::sqrt(static_cast<double>(t)), 1}; }
};

}  // namespace pegasos
