// The definitions behind shared_dispatch.hpp.
#pragma once

#include <stdexcept>

#include "instances/shared_dispatch.hpp"

namespace pegasos {

template <class Rows>
std::vector<Solution> solve_shared_sdca(const Rows& rows, const Problem& problem,
                                        const SharedSdcaRequest& request, Context& context) {
    problem.refuse_free_intercept();
    const std::vector<std::uint32_t> labels(problem.labels.begin(), problem.labels.end());
    const ClassProblems<Rows> problems{{rows, problem.weights, problem.C, problem.total_weight}, labels};
    return problem.loss.visit([&]<class Loss>(const Loss& loss) -> std::vector<Solution> {
        if constexpr (Loss::regression) {
            throw std::invalid_argument("a loss for regression has no classes");
        } else {
            const auto solve = [&]<class Real>(Real) {
                SharedSdca<Loss, Rows, Real> solver(loss, problems, request.options, context, request.report);
                return solver.run(request.sequence);
            };
            return request.options.tol >= SharedSdcaOptions::coarse ? solve(float{}) : solve(double{});
        }
    });
}

#define PEGASOS_INSTANTIATE_SHARED(...)                                                  \
    template std::vector<Solution> solve_shared_sdca(const __VA_ARGS__&, const Problem&, \
                                                     const SharedSdcaRequest&, Context&);

}  // namespace pegasos
