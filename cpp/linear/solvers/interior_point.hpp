// The interior-point method: its options. What it does is in interior_point.cpp.
#pragma once

#include <cstdint>

#include "base/solution.hpp"
#include "linear/problem.hpp"

namespace pegasos {

struct InteriorPointOptions {
    double tol = 0;
    std::uint64_t max_iterations = 1;
    double goal = 0;  // a gap below tol to go for, where it can be had; 0: tol
};

Solution solve_interior_point(const Problem& problem, const InteriorPointOptions& options, const Start& start,
                              Context& context);

}  // namespace pegasos
