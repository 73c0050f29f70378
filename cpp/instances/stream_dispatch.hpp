// Learners of streams by the kind of rows; instances/stream.cpp compiles them.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "instances/dispatch.hpp"
#include "linear/solvers/adagrad.hpp"
#include "linear/solvers/stream.hpp"

namespace pegasos {

/// A learner with its loss, and what it has predicted so far.
struct Stream {
    std::string loss;
    double epsilon;
    std::variant<PegasosStream, AdaGradStream> learner;
    Progress progress = {};

    /// f(learner)
    template <class F>
    auto with(F f) const {
        return std::visit(f, learner);
    }
};

/// Presents each row once; what was predicted of them. `scores` may be empty.
template <class Rows>
Progress learn_stream(Stream& stream, const Rows& rows, std::span<const double> labels,
                      std::span<const double> weights, std::span<const RowNumber> order,
                      std::span<double> scores, Monitor& monitor);

}  // namespace pegasos
