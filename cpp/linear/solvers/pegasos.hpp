// Pegasos (S0 Fig. 1 and 2): eta_t = 1 / (lambda t), so w_{t+1} = (1 - 1/t) w_t + v_t / (lambda t) and,
// without projection, w_{t+1} = (v_1 + ... + v_t) / (lambda t)  (S0 eq. 13).
#pragma once

#include <cstdint>

namespace pegasos {

/// The step size, and what is left of w: 1 - eta lambda.
struct StepSize {
    double eta;
    double shrink;
};

struct PegasosSteps {
    double lambda;

    StepSize operator()(std::uint64_t t) const {
        const double inverse = 1 / static_cast<double>(t);
        return {inverse / lambda, 1 - inverse};
    }
};

}  // namespace pegasos
