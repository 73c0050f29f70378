// Block-coordinate Frank-Wolfe for sequences of labels: its options. What it does is in frank_wolfe.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sampling.hpp"
#include "sequence/solution.hpp"

namespace pegasos {

struct SequenceFrankWolfeOptions {
    double tol;
    double max_epochs;
    std::size_t decodings;  // at a visit, at most
    std::uint64_t seed;
    std::vector<RowNumber> sequence = {};   // visits of the only epoch, for tests
    static constexpr double coarse = 1e-5;  // single precision will do for a tol from here on
};

SequenceSolution solve_sequence_frank_wolfe(const SequenceProblem& problem,
                                            const SequenceFrankWolfeOptions& options,
                                            const SequenceVertices& start, Context& context);

}  // namespace pegasos
