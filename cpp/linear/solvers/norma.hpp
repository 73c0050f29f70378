// NORMA, as S0 section 7.6 describes it: eta_t = p / (lambda sqrt(t)) with 0 < p < 1.
#pragma once

#include <cmath>

#include "linear/solvers/pegasos.hpp"

namespace pegasos {

struct NormaSteps {
    double lambda;
    double p;

    StepSize operator()(std::uint64_t t) const {
        const double part = p / std::sqrt(static_cast<double>(t));
        return {part / lambda, 1 - part};
    }
};

}  // namespace pegasos
