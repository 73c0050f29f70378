// SGD-r, SGD-s, SGD-m (S3): their options. What they do is in sgd.cpp.
#pragma once

#include <cstdint>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "linear/problem.hpp"

namespace pegasos {

struct SgdOptions {
    bool complete_epochs = true;     // false: SGD-r
    std::uint64_t multiplicity = 1;  // l, in passes T (from 0) with 0 < T mod period < burst
    std::uint64_t period = 9, burst = 5;
    double patience = 1.2;  // f
    double tol = 0;
    std::uint64_t max_passes = 1;
    std::uint64_t max_steps = 0;  // ends within a pass; 0: no such limit
    bool last = false;            // whether to return the last vector, not the best
};

Solution solve_sgd(const Problem& problem, const SgdOptions& options, Sampler& sampler, const Start& start,
                   Context& context);

}  // namespace pegasos
