// The definitions behind joint_dispatch.hpp.
#pragma once

#include "instances/joint_dispatch.hpp"

namespace pegasos {

template <class Rows>
JointProblem<Rows> make_joint_problem(const Rows& rows, const JointData& data) {
    Sum total;
    for (const double s : data.weights) total.add(s);
    return {rows, data.labels, data.weights, data.C, total.value(), data.cost, data.n_classes};
}

template <class Rows>
Solution solve_joint_sdca(const Rows& rows, const JointData& data, const JointSdcaRequest& request,
                          Context& context) {
    const auto problem = make_joint_problem(rows, data);
    return with_joint_loss(data.loss, [&]<class Loss>() {
        const auto solve = [&]<class Real>(Real) {
            JointSdca<Loss, Rows, Real> solver(problem, request.options, context);
            return solver.run(request.start, request.sequence);
        };
        return request.options.tol >= JointSdcaOptions::coarse ? solve(float{}) : solve(double{});
    });
}

template <class Rows>
Solution solve_joint_subgradient(const Rows& rows, const JointData& data,
                                 const JointSubgradientRequest& request, Context& context) {
    const auto problem = make_joint_problem(rows, data);
    const auto sampler =
        make_sampler(request.sampling, request.sequence, rows.n_rows, request.options.batch, request.seed);
    return with_joint_loss(data.loss, [&]<class Loss>() {
        JointSubgradient<Loss, Rows> solver(problem, request.options, *sampler, context);
        return solver.run(request.start);
    });
}

template <class Rows>
Solution solve_joint_sgd(const Rows& rows, const JointData& data, const JointSgdRequest& request,
                         Context& context) {
    const auto problem = make_joint_problem(rows, data);
    const auto sampler = make_sampler("permute", request.sequence, rows.n_rows, 1, request.seed);
    return with_joint_loss(data.loss, [&]<class Loss>() {
        JointSgd<Loss, Rows> solver(problem, request.options, *sampler, context);
        return solver.run(request.start);
    });
}

template <class Rows>
Bounds certify_joint(const Rows& rows, const JointData& data, const std::vector<double>& w,
                     const std::vector<double>& q, Context& context) {
    const auto problem = make_joint_problem(rows, data);
    return with_joint_loss(data.loss, [&]<class Loss>() {
        return certify_jointly<Loss>(problem, w, q, context.team, context.monitor);
    });
}

#define PEGASOS_INSTANTIATE_JOINT(...)                                                                \
    template Solution solve_joint_sdca(const __VA_ARGS__&, const JointData&, const JointSdcaRequest&, \
                                       Context&);                                                     \
    template Solution solve_joint_subgradient(const __VA_ARGS__&, const JointData&,                   \
                                              const JointSubgradientRequest&, Context&);              \
    template Solution solve_joint_sgd(const __VA_ARGS__&, const JointData&, const JointSgdRequest&,   \
                                      Context&);                                                      \
    template Bounds certify_joint(const __VA_ARGS__&, const JointData&, const std::vector<double>&,   \
                                  const std::vector<double>&, Context&);

}  // namespace pegasos
