// The definitions behind dispatch.hpp. Each .cpp beside this file instantiates them for a few kinds of rows.
#pragma once

#include <numeric>

#include "dispatch.hpp"

namespace pegasos {

template <class Rows>
Problem<Rows> make_problem(const Rows& rows, const ProblemData& data) {
    Sum total;
    for (const double s : data.weights) total.add(s);
    return {rows, data.labels, data.weights, data.C, total.value()};
}

template <class Rows>
Solution solve_subgradient(const Rows& rows, const ProblemData& data, const SubgradientRequest& request,
                           Monitor& monitor) {
    const auto problem = make_problem(rows, data);
    const auto sampler = make_sampler(request, rows.n_rows);
    return with_loss(data.loss, [&]<class Loss>(Loss) {
        return with_schedule(request, problem.lambda(), [&]<class Schedule>(const Schedule& schedule) {
            Subgradient<Loss, Rows, Schedule> solver(problem, schedule, request.options, *sampler, monitor,
                                                     request.report);
            return solver.run(request.start);
        });
    });
}

template <class Rows>
Bounds certify(const Rows& rows, const ProblemData& data, const std::vector<double>& w,
               const std::vector<double>& q, Monitor& monitor) {
    const auto problem = make_problem(rows, data);
    return with_loss(data.loss, [&]<class Loss>(Loss) {
        DualPoint point;
        const double primal =
            evaluate<Loss>(problem, w, monitor, point, [&](std::size_t i, double) { return q[i]; });
        return Bounds{primal, point.value()};
    });
}

template <class Rows>
RowsReport inspect_rows(const Rows& rows, std::size_t n_stored, Monitor& monitor) {
    return inspect(rows, n_stored, monitor);
}

#define PEGASOS_INSTANTIATE(...)                                                                           \
    template Solution solve_subgradient(const __VA_ARGS__&, const ProblemData&, const SubgradientRequest&, \
                                        Monitor&);                                                         \
    template Bounds certify(const __VA_ARGS__&, const ProblemData&, const std::vector<double>&,            \
                            const std::vector<double>&, Monitor&);                                         \
    template RowsReport inspect_rows(const __VA_ARGS__&, std::size_t, Monitor&);

}  // namespace pegasos
