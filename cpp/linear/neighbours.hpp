// Whether rows that follow each other in the data are more alike than others: then an order of visits that
// keeps neighbours together costs epochs.
#pragma once

#include <cstdint>

#include "linear/problem.hpp"

namespace pegasos {

/// Compares y_i y_j <x_i, x_j> / (||x_i|| ||x_j||) over a thousand pairs of neighbours and as many of random
/// rows.
bool neighbours_alike(const Problem& problem, std::uint64_t seed);

}  // namespace pegasos
