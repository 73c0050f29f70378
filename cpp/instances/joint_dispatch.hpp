// Where names become template instances, for the problems of all classes jointly.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "classes/multiclass.hpp"
#include "classes/solvers/joint_sdca.hpp"
#include "classes/solvers/joint_sgd.hpp"
#include "classes/solvers/joint_subgradient.hpp"

namespace pegasos {

/// Labels, weights, C, loss and costs: the problem less its rows.
struct JointData {
    std::span<const std::uint32_t> labels;
    std::span<const double> weights;
    double C;
    std::string loss;
    std::span<const double> cost;
    std::size_t n_classes;
};

struct JointSdcaRequest {
    JointSdcaOptions options;
    std::vector<RowNumber> sequence;  // visits of the only epoch, for tests
    Start start;
};

struct JointSubgradientRequest {
    IterateOptions options;
    std::string sampling;
    std::uint64_t seed;
    std::vector<RowNumber> sequence;  // instead of sampling, for tests
    Start start;
};

struct JointSgdRequest {
    JointSgdOptions options;
    std::uint64_t seed;
    std::vector<RowNumber> sequence;  // instead of permutations, for tests
    Start start;
};

/// f.template operator()<Loss>() for the loss of that name.
template <class F>
auto with_joint_loss(const std::string& name, F f) {
    if (name == "hinge") return f.template operator()<JointHinge>();
    if (name == "log_loss") return f.template operator()<Softmax>();
    throw std::invalid_argument("unknown loss '" + name + "'");
}

template <class Rows>
Solution solve_joint_sdca(const Rows& rows, const JointData& data, const JointSdcaRequest& request,
                          Context& context);

template <class Rows>
Solution solve_joint_subgradient(const Rows& rows, const JointData& data,
                                 const JointSubgradientRequest& request, Context& context);

template <class Rows>
Solution solve_joint_sgd(const Rows& rows, const JointData& data, const JointSgdRequest& request,
                         Context& context);

template <class Rows>
Bounds certify_joint(const Rows& rows, const JointData& data, const std::vector<double>& w,
                     const std::vector<double>& q, Context& context);

}  // namespace pegasos
