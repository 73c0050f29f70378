// Where names become template instances, for chains of labels.
#pragma once

#include <string>
#include <vector>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "sequence/solvers/chain_frank_wolfe.hpp"
#include "sequence/solvers/chain_pegasos.hpp"

namespace pegasos {

/// The problem less its rows.
struct ChainData {
    std::span<const std::uint64_t> starts;
    std::span<const Label> labels;
    std::span<const double> weights;
    double C;
    std::span<const double> cost;
    const Links& barriers;
    bool boundaries;
};

struct ChainFrankWolfeRequest {
    ChainFrankWolfeOptions options;
    std::vector<RowNumber> sequence;  // visits of the only epoch, for tests
    ChainVertices start;
};

struct ChainPegasosRequest {
    IterateOptions options;
    std::string sampling;
    std::uint64_t seed;
    std::vector<RowNumber> sequence;  // instead of sampling, for tests
};

template <class Rows>
ChainSolution solve_chain_frank_wolfe(const Rows& rows, const ChainData& data,
                                      const ChainFrankWolfeRequest& request, Context& context);

template <class Rows>
ChainSolution solve_chain_pegasos(const Rows& rows, const ChainData& data, const ChainPegasosRequest& request,
                                  Context& context);

}  // namespace pegasos
