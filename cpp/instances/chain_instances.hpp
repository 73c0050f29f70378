// The definitions behind chain_dispatch.hpp.
#pragma once

#include "instances/chain_dispatch.hpp"

namespace pegasos {

template <class Rows>
ChainProblem<Rows> make_chain_problem(const Rows& rows, const ChainData& data) {
    Sum total;
    for (const double s : data.weights) total.add(s);
    return {rows,          data.starts, data.labels,   data.weights,   data.C,
            total.value(), data.cost,   data.barriers, data.boundaries};
}

template <class Rows>
ChainSolution solve_chain_frank_wolfe(const Rows& rows, const ChainData& data,
                                      const ChainFrankWolfeRequest& request, Context& context) {
    const auto problem = make_chain_problem(rows, data);
    const auto solve = [&]<class Real>(Real) {
        return ChainFrankWolfe<Rows, Real>(problem, request.options, context)
            .run(request.start, request.sequence);
    };
    return request.options.tol >= ChainFrankWolfeOptions::coarse ? solve(float{}) : solve(double{});
}

template <class Rows>
ChainSolution solve_chain_pegasos(const Rows& rows, const ChainData& data, const ChainPegasosRequest& request,
                                  Context& context) {
    const auto problem = make_chain_problem(rows, data);
    const auto sampler = make_sampler(request.sampling, request.sequence, problem.n_sequences(),
                                      request.options.batch, request.seed);
    return ChainPegasos<Rows>(problem, request.options, *sampler, context).run();
}

#define PEGASOS_INSTANTIATE_CHAIN(...)                                                       \
    template ChainSolution solve_chain_frank_wolfe(const __VA_ARGS__&, const ChainData&,     \
                                                   const ChainFrankWolfeRequest&, Context&); \
    template ChainSolution solve_chain_pegasos(const __VA_ARGS__&, const ChainData&,         \
                                               const ChainPegasosRequest&, Context&);

}  // namespace pegasos
