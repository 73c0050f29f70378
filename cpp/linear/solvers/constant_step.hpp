// Stochastic gradient descent with a constant step (Zhang), as S0 section 7.6 describes it: eta_t = eta.
#pragma once

#include "linear/solvers/pegasos.hpp"

namespace pegasos {

struct ConstantSteps {
    double lambda;
    double eta;

    StepSize operator()(std::uint64_t) const { return {eta, 1 - eta * lambda}; }
};

}  // namespace pegasos
