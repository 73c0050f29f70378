// SDCA, dual coordinate ascent: its options. What it does is in sdca.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "linear/problem.hpp"

namespace pegasos {

struct SdcaOptions {
    bool shrink = true;
    bool blocks = true;  // false: a plain permutation
    double tol = 0;
    double max_epochs = 1;
    double rho = 0;         // of the intercept; 0: chosen, infinity: as any other weight
    std::size_t joins = 0;  // of the threads in an epoch; 0: chosen, with epochs that one thread makes alone
    std::uint64_t seed = 0;
    std::vector<RowNumber> sequence = {};  // the visits of the only epoch, for tests
};

Solution solve_sdca(const Problem& problem, const SdcaOptions& options, const Start& start, Context& context);

}  // namespace pegasos
