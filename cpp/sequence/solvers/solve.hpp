// The solvers of sequences of labels as others see them: what they return, their options, and how each is
// called. What a solver does is in the file of its name.
#pragma once

#include <vector>

#include "base/iterates.hpp"
#include "sequence/chain.hpp"

namespace pegasos {

/// Vertices as arrays, for a later run to start from.
struct SequenceVertices {
    std::vector<std::uint32_t> owners;  // the sequence of each
    std::vector<double> shares;
    std::vector<Label> labels;  // one after the other
};

struct SequenceSolution {
    std::vector<double> weights;  // features x labels (the constant one last)
    std::vector<double> links;    // (labels + first, last) x labels
    Solution run;                 // bounds, history, reason
    SequenceVertices vertices;

    void state(State& state) {
        state(weights, links, run, vertices.owners, vertices.shares, vertices.labels);
    }
};

struct SequenceFrankWolfeOptions {
    double tol;
    double max_epochs;
    std::size_t decodings;  // at a visit, at most
    std::uint64_t seed;
    std::vector<RowNumber> sequence = {};  // visits of the only epoch, for tests
};

SequenceSolution solve_sequence_frank_wolfe(const SequenceProblem& problem,
                                            const SequenceFrankWolfeOptions& options,
                                            const SequenceVertices& start, Context& context);

SequenceSolution solve_sequence_pegasos(const SequenceProblem& problem, const IterateOptions& options,
                                        Sampler& sampler, Context& context);

}  // namespace pegasos
