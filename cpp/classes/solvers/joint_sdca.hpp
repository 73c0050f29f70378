// SDCA on all classes jointly: its options. What it does is in joint_sdca.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "classes/multiclass.hpp"

namespace pegasos {

struct JointSdcaOptions {
    static constexpr double coarse = 1e-5;  // the smallest tol for which W is of floats

    bool shrink = true;
    bool blocks = true;  // false: a plain permutation
    double tol = 0;
    double max_epochs = 1;
    std::uint64_t seed = 0;
    std::vector<RowNumber> sequence =
        {};  // the visits of the only epoch, for tests: intercepts as any weight
};

Solution solve_joint_sdca(const JointProblem& problem, const JointSdcaOptions& options, const Start& start,
                          Context& context);

}  // namespace pegasos
