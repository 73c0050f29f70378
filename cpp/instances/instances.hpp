// The definitions behind dispatch.hpp. Each .cpp beside this file instantiates them for a few kinds of rows.
#pragma once

#include "make_problem.hpp"

namespace pegasos {

template <class Rows>
Solution solve_subgradient(const Rows& rows, const ProblemData& data, const SubgradientRequest& request,
                           Context& context) {
    if (data.free_intercept != (request.options.intercept != Intercept::in_w))
        throw std::invalid_argument("the intercept is free, or it is in w");
    if (request.schedule != "pegasos") refuse_free_intercept(data);
    const auto problem = make_problem(rows, data);
    const auto sampler = make_sampler(request.sampling, request.sequence, rows.n_rows, request.options.batch,
                                      request.options.seed);
    if (data.loss != "hinge" && request.options.intercept == Intercept::batch)
        throw std::invalid_argument("the best intercept of a batch is known for the hinge loss alone");
    return with_hinge_or_other(data, [&]<class Loss>(const Loss& loss) {
        return with_schedule<Loss>(request, problem.lambda(), [&]<class Schedule>(const Schedule& schedule) {
            Subgradient<Loss, Rows, Schedule> solver(loss, problem, schedule, request.options, *sampler,
                                                     context);
            return solver.run(request.start);
        });
    });
}

template <class Rows>
Solution solve_sgd(const Rows& rows, const ProblemData& data, const SgdRequest& request, Context& context) {
    if (data.loss != "hinge" && request.options.multiplicity > 1)
        throw std::invalid_argument("multiple updates are known for the hinge loss alone");
    refuse_free_intercept(data);
    const auto problem = make_problem(rows, data);
    const auto sampler = make_sampler(request.sampling, request.sequence, rows.n_rows, 1, request.seed);
    return with_hinge_or_other(data, [&]<class Loss>(const Loss& loss) {
        return Sgd<Loss, Rows>(loss, problem, request.options, *sampler, context).run(request.start);
    });
}

template <class Rows>
Solution solve_sdca(const Rows& rows, const ProblemData& data, const SdcaRequest& request, Context& context) {
    const auto problem = make_problem(rows, data);
    return with_loss(data, [&]<class Loss>(const Loss& loss) {
        Sdca<Loss, Rows> solver(loss, problem, request.options, context);
        return solver.run(request.start, request.sequence);
    });
}

template <class Rows>
Solution solve_interior_point(const Rows& rows, const ProblemData& data, const InteriorPointRequest& request,
                              Context& context) {
    const auto problem = make_problem(rows, data);
    const AnyLoss loss = with_loss(data, [](const auto& loss) { return AnyLoss(loss); });
    if (data.loss == "hinge" || data.loss == "epsilon_insensitive")
        return InteriorPoint<false, Rows>(loss, problem, request.options, context).run(request.start);
    if (data.loss == "log_loss") throw std::invalid_argument("interior-point does not serve the log loss");
    return InteriorPoint<true, Rows>(loss, problem, request.options, context).run(request.start);
}

template <class Rows>
Bounds certify(const Rows& rows, const ProblemData& data, const std::vector<double>& w,
               const std::vector<double>& q, double tol, Context& context) {
    const auto problem = make_problem(rows, data);
    return with_hinge_or_other(data, [&](const auto& loss) {
        DualPoint point;
        const Bound primal = evaluate(loss, problem, w, context.team, context.monitor, point,
                                      [&](std::size_t i, double) { return q[i]; });
        Bounds found = between(primal, point.value());
        if (found.wants_care(tol) && !context.monitor.timed_out())
            look_closely(loss, problem, w, context.team, context.monitor, point, found);
        return found;
    });
}

template <class Rows>
bool are_neighbours_alike(const Rows& rows, const ProblemData& data, std::uint64_t seed) {
    return neighbours_alike(make_problem(rows, data), seed);
}

template <class Rows>
RowsReport inspect_rows(const Rows& rows, std::size_t n_stored, Context& context) {
    return inspect(rows, n_stored, context.team, context.monitor);
}

#define PEGASOS_INSTANTIATE(...)                                                                           \
    template Solution solve_subgradient(const __VA_ARGS__&, const ProblemData&, const SubgradientRequest&, \
                                        Context&);                                                         \
    template Solution solve_sgd(const __VA_ARGS__&, const ProblemData&, const SgdRequest&, Context&);      \
    template Solution solve_sdca(const __VA_ARGS__&, const ProblemData&, const SdcaRequest&, Context&);    \
    template Solution solve_interior_point(const __VA_ARGS__&, const ProblemData&,                         \
                                           const InteriorPointRequest&, Context&);                         \
    template Bounds certify(const __VA_ARGS__&, const ProblemData&, const std::vector<double>&,            \
                            const std::vector<double>&, double, Context&);                                 \
    template bool are_neighbours_alike(const __VA_ARGS__&, const ProblemData&, std::uint64_t);             \
    template RowsReport inspect_rows(const __VA_ARGS__&, std::size_t, Context&);

}  // namespace pegasos
