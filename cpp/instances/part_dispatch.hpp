// Where run-time names become template instances, for work on a part of a problem's rows.
#pragma once

#include <span>
#include <vector>

#include "instances/dispatch.hpp"
#include "linear/solvers/local_sdca.hpp"

namespace pegasos {

template <class Rows>
Visit visit_part(const Rows& rows, const ProblemData& data, std::span<double> q, double* w,
                 const LocalOptions& options, Context& context);

template <class Rows>
Measure measure_part(const Rows& rows, const ProblemData& data, std::span<const double> q,
                     const std::vector<double>& w, Context& context);

}  // namespace pegasos
