// The problem of the core's solvers, from rows and all that is not rows.
#pragma once

#include <stdexcept>

#include "instances/dispatch.hpp"

namespace pegasos {

template <class Rows>
Problem<Rows> make_problem(const Rows& rows, const ProblemData& data) {
    Sum total;
    for (const double s : data.weights) total.add(s);
    return {rows, data.labels, data.weights, data.C, total.value(), data.free_intercept};
}

inline void refuse_free_intercept(const ProblemData& data) {
    if (data.free_intercept) throw std::invalid_argument("this solver does not serve a free intercept");
}

}  // namespace pegasos
