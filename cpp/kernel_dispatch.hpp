// The kernel solvers by precision; instances/kernel.cpp compiles them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gram.hpp"
#include "solvers/smo.hpp"

namespace pegasos {

template <class Real>
KernelSolution solve_smo(const KernelProblem& problem, KernelSource<Real>& source, std::size_t cached_rows,
                         const SmoOptions& options, const std::vector<double>& start, Context& context);

/// out[i * n_out + k] += sum_j coef[j * n_out + k] K(many_i, few_j)
template <class Real>
void add_decisions(const Kernel& kernel, const Points<Real>& few, std::span<const double> coef, std::size_t n_out,
                   const Points<Real>& many, double* out, Context& context);

}  // namespace pegasos
