// SGD-s on all classes jointly: its options. What it does is in joint_sgd.cpp.
#pragma once

#include <cstdint>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "classes/multiclass.hpp"

namespace pegasos {

struct JointSgdOptions {
    double patience = 1.2;  // f
    double tol = 0;
    std::uint64_t max_passes = 1;
    std::uint64_t max_steps = 0;  // ends within a pass; 0: no such limit
    bool last = false;            // whether to return the last vector, not the best
};

Solution solve_joint_sgd(const JointProblem& problem, const JointSgdOptions& options, Sampler& sampler,
                         const Start& start, Context& context);

}  // namespace pegasos
