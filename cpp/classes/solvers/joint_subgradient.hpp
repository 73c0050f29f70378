// Pegasos on all classes jointly. What it does is in joint_subgradient.cpp.
#pragma once

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "classes/class_iterates.hpp"
#include "classes/multiclass.hpp"

namespace pegasos {

Solution solve_joint_subgradient(const JointProblem& problem, const IterateOptions& options, Sampler& sampler,
                                 const Start& start, Context& context);

}  // namespace pegasos
