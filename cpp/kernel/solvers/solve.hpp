// The kernel solvers as others see them: their options, and how each is called. Each is compiled for both
// precisions of the kernel matrix, in the file of its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "kernel/certificate.hpp"
#include "kernel/problem.hpp"
#include "kernel/source.hpp"

namespace pegasos {

/// What all kernel solvers are given: how many rows of the kernel matrix may be kept besides.
struct KernelTask {
    const KernelProblem& problem;
    const AnySource& source;
    std::size_t cached_rows;
    Context& context;

    /// f(gram) in the precision of the source.
    template <class F>
    KernelSolution with_gram(F f) const {
        return std::visit(
            [&]<class Real>(const std::unique_ptr<KernelSource<Real>>& values) {
                Gram<Real> gram(*values, cached_rows, context.team, context.monitor);
                return f(gram);
            },
            source);
    }
};

/// By example: labels, and how often each counts.
struct Labelled {
    std::vector<double> labels, weights;
};

struct SmoOptions {
    double tol;
    double max_epochs;        // an epoch is as many steps as there are examples
    std::size_t working_set;  // variables chosen at a time
    std::size_t block;        // of those
    std::uint64_t seed;
    std::size_t part_from;  // examples from which on parts of them are solved on their own
    bool gradual = false;   // the first pass begins with few: what is half done when the time is up is lost
    bool brief = false;     // if the time ends before the responses of the start are there, zero is the start
    double goal = 0;        // of a part: the gap, not relative, at which it ends
    bool part = false;
};

KernelSolution solve_smo(const KernelTask& task, const SmoOptions& options, const std::vector<double>& start);

struct KernelSdcaOptions {
    double tol, max_epochs;
    std::uint64_t seed;
};

KernelSolution solve_sdca_by_kernel(const KernelTask& task, const KernelSdcaOptions& options,
                                    const std::vector<double>& start, const std::vector<RowNumber>& sequence);

enum class Selection { random, gradient, active };

struct LasvmOptions {
    double tol, max_epochs, tau;
    Selection selection;
    std::uint64_t seed;
};

KernelSolution solve_lasvm(const KernelTask& task, const LasvmOptions& options,
                           const std::vector<double>& start, const std::vector<RowNumber>& sequence);

enum class WalkOutput { last, average, suffix, random };

struct KernelWalkOptions {
    bool perceptron;
    std::size_t batch;
    bool project;
    WalkOutput output;
    bool best;
    double lambda, tol;
    std::uint64_t max_steps, seed;
};

KernelSolution solve_walk(const KernelTask& task, const KernelWalkOptions& options, const Labelled& examples,
                          Sampler& sampler, const HoldOut& held_out);

/// Of solvers of the slack-constrained problem.
struct MarginOptions {
    double nu;  // negative: found for C
    double C, tol;
    std::uint64_t max_steps, seed;
};

struct Proposal {
    RowNumber row;
    double uniform;
};

KernelSolution solve_sbp(const KernelTask& task, const MarginOptions& options, const Labelled& examples,
                         const std::vector<Proposal>& proposals, const HoldOut& held_out);

/// `uniforms`: what the first steps draw their examples by.
KernelSolution solve_simba(const KernelTask& task, const MarginOptions& options, const Labelled& examples,
                           const std::vector<double>& uniforms, const HoldOut& held_out);

/// For tests: beta after so many Newton steps of a problem with the square matrix K and the targets t.
std::vector<double> make_newton_steps(const double* K, std::span<const double> t, std::span<const double> lo,
                                      std::span<const double> hi, std::span<const double> beta,
                                      bool intercept, std::size_t steps, Context& context);

}  // namespace pegasos
