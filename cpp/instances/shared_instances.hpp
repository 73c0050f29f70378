// The definitions behind shared_dispatch.hpp.
#pragma once

#include "instances/shared_dispatch.hpp"
#include "make_problem.hpp"

namespace pegasos {

template <class F>
auto with_classification_loss(const ProblemData& data, F f) {
    return with_loss(data, [&]<class Loss>(const Loss& loss) -> std::vector<Solution> {
        if constexpr (Loss::regression)
            throw std::invalid_argument("the loss '" + data.loss + "' has no classes");
        else
            return f(loss);
    });
}

template <class Rows>
std::vector<Solution> solve_shared_sdca(const Rows& rows, const ProblemData& data,
                                        const SharedSdcaRequest& request, Context& context) {
    refuse_free_intercept(data);
    const auto problem = make_problem(rows, data);
    const std::vector<std::uint32_t> labels(data.labels.begin(), data.labels.end());
    const ClassProblems<Rows> problems{problem, labels};
    return with_classification_loss(data, [&]<class Loss>(const Loss& loss) {
        const auto solve = [&]<class Real>(Real) {
            SharedSdca<Loss, Rows, Real> solver(loss, problems, request.options, context, request.report);
            return solver.run(request.sequence);
        };
        return request.options.tol >= SharedSdcaOptions::coarse ? solve(float{}) : solve(double{});
    });
}

#define PEGASOS_INSTANTIATE_SHARED(...)                                                      \
    template std::vector<Solution> solve_shared_sdca(const __VA_ARGS__&, const ProblemData&, \
                                                     const SharedSdcaRequest&, Context&);

}  // namespace pegasos
