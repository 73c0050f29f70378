// The kernel solvers by precision; instances/kernel.cpp compiles them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernel/gram.hpp"
#include "kernel/solvers/kernel_sdca.hpp"
#include "kernel/solvers/kernel_walk.hpp"
#include "kernel/solvers/sbp.hpp"
#include "kernel/solvers/smo.hpp"

namespace pegasos {

/// What all kernel solvers are given: how many rows of the kernel matrix may be kept besides.
template <class Real>
struct KernelTask {
    const KernelProblem& problem;
    KernelSource<Real>& source;
    std::size_t cached_rows;
    Context& context;
};

/// By example: labels, and how often each counts.
struct Labelled {
    std::vector<double> labels, weights;
};

template <class Real>
KernelSolution solve_smo(const KernelTask<Real>& task, const SmoOptions& options,
                         const std::vector<double>& start);

template <class Real>
KernelSolution solve_kernel_sdca(const KernelTask<Real>& task, const KernelSdcaOptions& options,
                                 const std::vector<double>& start, const std::vector<RowNumber>& sequence);

template <class Real>
KernelSolution solve_kernel_walk(const KernelTask<Real>& task, const KernelWalkOptions& options,
                                 const Labelled& examples, Sampler& sampler, const HoldOut& held_out);

template <class Real>
KernelSolution solve_sbp(const KernelTask<Real>& task, const SbpOptions& options, const Labelled& examples,
                         const std::vector<Proposal>& proposals, const HoldOut& held_out);

/// out[i * n_out + k] += sum_j coef[j * n_out + k] K(many_i, few_j)
template <class Real>
void add_decisions(const Kernel& kernel, Points<Real> few, std::span<const double> coef, std::size_t n_out,
                   Points<Real> many, double* out, Context& context);

}  // namespace pegasos
