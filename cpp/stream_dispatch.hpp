// Learners of streams by the kind of rows; instances/stream.cpp compiles them.
#pragma once

#include <span>
#include <string>

#include "dispatch.hpp"
#include "solvers/stream.hpp"

namespace pegasos {

/// A learner with its loss, and what it has predicted so far.
struct Stream {
    std::string loss;
    double epsilon;
    PegasosStream learner;
    Progress progress = {};
};

/// Presents each row once; what was predicted of them.
template <class Rows>
Progress learn_stream(Stream& stream, const Rows& rows, std::span<const double> labels,
                      std::span<const double> weights, std::span<const RowNumber> order, Monitor& monitor);

}  // namespace pegasos
