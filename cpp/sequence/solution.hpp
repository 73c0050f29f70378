// What training on sequences returns.
#pragma once

#include <cstdint>
#include <vector>

#include "base/solution.hpp"
#include "sequence/chain.hpp"

namespace pegasos {

/// Vertices as arrays, for a later run to start from.
struct SequenceVertices {
    std::vector<std::uint32_t> owners;  // the sequence of each
    std::vector<double> shares;
    std::vector<Label> labels;  // one after the other
};

struct SequenceSolution {
    std::vector<double> weights,
        links;     // features x labels (the constant one last); (labels + first, last) x labels
    Solution run;  // bounds, history, reason
    SequenceVertices vertices;
};

}  // namespace pegasos
