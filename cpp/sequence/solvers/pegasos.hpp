// Pegasos on sequences of labels. What it does is in pegasos.cpp.
#pragma once

#include "base/sampling.hpp"
#include "classes/class_iterates.hpp"
#include "sequence/solution.hpp"

namespace pegasos {

SequenceSolution solve_sequence_pegasos(const SequenceProblem& problem, const IterateOptions& options,
                                        Sampler& sampler, Context& context);

}  // namespace pegasos
