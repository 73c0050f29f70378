// The definitions behind part_dispatch.hpp. Each .cpp beside this file instantiates them for a few kinds of
// rows.
#pragma once

#include "instances/part_dispatch.hpp"
#include "make_problem.hpp"

namespace pegasos {

template <class Rows>
Visit visit_part(const Rows& rows, const ProblemData& data, std::span<double> q, double* w,
                 const LocalOptions& options, Context& context) {
    refuse_free_intercept(data);
    // Without the sum of all weights, which visits do not need: calls may be of a few rows each.
    const Problem<Rows> problem{rows, data.labels, data.weights, data.C, 0, false};
    return with_loss(data,
                     [&](const auto& loss) { return visit_part(loss, problem, q, w, options, context); });
}

template <class Rows>
Measure measure_part(const Rows& rows, const ProblemData& data, std::span<const double> q,
                     const std::vector<double>& w, Context& context) {
    refuse_free_intercept(data);
    const auto problem = make_problem(rows, data);
    return with_hinge_or_other(data,
                               [&](const auto& loss) { return measure_part(loss, problem, q, w, context); });
}

#define PEGASOS_INSTANTIATE_PART(...)                                                              \
    template Visit visit_part(const __VA_ARGS__&, const ProblemData&, std::span<double>, double*,  \
                              const LocalOptions&, Context&);                                      \
    template Measure measure_part(const __VA_ARGS__&, const ProblemData&, std::span<const double>, \
                                  const std::vector<double>&, Context&);

}  // namespace pegasos
