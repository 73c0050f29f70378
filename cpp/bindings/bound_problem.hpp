// A linear problem as Python holds it.
#pragma once

#include "linear/problem.hpp"
#include "run.hpp"

namespace pegasos {

using BoundProblem = Held<Problem>;

}  // namespace pegasos
