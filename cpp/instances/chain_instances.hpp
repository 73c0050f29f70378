// The definitions behind chain_dispatch.hpp.
#pragma once

#include "chain_dispatch.hpp"

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

template <class Rows>
std::vector<Label> decode_chains(const Rows& rows, std::span<const std::uint64_t> starts,
                                 std::span<const double> weights, const Links& links,
                                 std::vector<double>* marginals, Context& context) {
    const std::size_t K = links.n_labels(), n = starts.size() - 1;
    ClassMatrix<double> W(rows.n_features + 1, K);
    W.assign(weights);
    const ChainProblem<Rows> problem{rows, starts, {}, {}, 0, 0, {}, links, true};
    std::vector<Label> labels(rows.n_rows);
    if (marginals) marginals->resize(rows.n_rows * K);
    context.team.run([&](std::size_t worker) {
        Viterbi viterbi;
        AlignedVector<double> scores;
        for (std::size_t i = worker; i < n && !context.team.failed(); i += context.team.size()) {
            const std::size_t start = problem.start(i), length = problem.length(i);
            score_positions(problem, i, W, false, scores);
            const double best = viterbi.decode(scores.data(), length, links, labels.data() + start);
            if (!(best > -std::numeric_limits<double>::infinity()))
                throw std::domain_error("the constraints allow no labels for X[" + std::to_string(i) +
                                        "], of length " + std::to_string(length) + "; relax them");
            if (marginals) viterbi.max_marginals(scores.data(), length, links, marginals->data() + start * K);
            if (worker == 0) context.monitor.worked(length * links.stride() * 8);
        }
    });
    return labels;
}

#define PEGASOS_INSTANTIATE_CHAIN(...)                                                                     \
    template ChainSolution solve_chain_frank_wolfe(const __VA_ARGS__&, const ChainData&,                   \
                                                   const ChainFrankWolfeRequest&, Context&);               \
    template ChainSolution solve_chain_pegasos(const __VA_ARGS__&, const ChainData&,                       \
                                               const ChainPegasosRequest&, Context&);                      \
    template std::vector<Label> decode_chains(const __VA_ARGS__&, std::span<const std::uint64_t>,          \
                                              std::span<const double>, const Links&, std::vector<double>*, \
                                              Context&);

}  // namespace pegasos
