// The linear solvers as others see them: their options, and how each is called. What a solver does is in the
// file of its name.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/iterates.hpp"
#include "linear/problem.hpp"
#include "linear/solvers/schedules.hpp"

namespace pegasos {

/// Where the intercept is: an entry of w like the others, or free and found in one of three ways.
enum class Intercept { in_w, subgradient, batch, fixed };

inline Intercept intercept_named(const std::string& name) {
    if (name == "in_w") return Intercept::in_w;
    if (name == "subgradient") return Intercept::subgradient;
    if (name == "batch") return Intercept::batch;
    if (name == "fixed") return Intercept::fixed;
    throw std::invalid_argument("unknown intercept '" + name + "'");
}

struct SubgradientOptions : IterateOptions {
    double radius = 0;               // of the ball to project onto; 0: the one that must contain the optimum
    bool count_idle_steps = true;    // false: t does not advance on a step without violation (S2 section 4.5)
    std::uint64_t random_stops = 1;  // draws of the stopping time, for Output::random_stop (S0 Lemma 3)
    std::uint64_t stop_sample = 0;   // rows to compare the stops on; 0: all
    std::uint64_t seed = 0;
    Intercept intercept = Intercept::in_w;
    Schedule schedule = {};
};

Solution solve_subgradient(const Problem& problem, SubgradientOptions options, Sampler& sampler,
                           const Start& start, Context& context);

/// The objective on the sample, lambda/2 ||w||^2 + mean loss, after one pass over it with steps of size eta.
double trial_objective(const Problem& problem, double eta, std::span<const RowNumber> sample);

/// Outputs are the best and the last vector.
struct SgdQnOptions : IterateOptions {
    double t0 = 1;
    std::uint64_t skip = 1;
};

Solution solve_sgd_qn(const Problem& problem, const SgdQnOptions& options, Sampler& sampler,
                      const Start& start, Context& context);

/// Of SGD-r, SGD-s and SGD-m.
struct SgdOptions {
    double check_factor = 1.2;  // f
    double tol = 0;
    std::uint64_t max_passes = 1;
    std::uint64_t max_steps = 0;     // ends within a pass; 0: no such limit
    bool last = false;               // whether to return the last vector, not the best
    bool complete_epochs = true;     // false: SGD-r
    std::uint64_t multiplicity = 1;  // l, in passes T (from 0) with 0 < T mod period < burst
    std::uint64_t period = 9, burst = 5;
};

Solution solve_sgd(const Problem& problem, const SgdOptions& options, Sampler& sampler, const Start& start,
                   Context& context);

struct SdcaOptions {
    bool shrink = true;
    bool blocks = true;  // false: a plain permutation
    double tol = 0;
    double max_epochs = 1;
    std::uint64_t seed = 0;
    std::vector<RowNumber> sequence = {};  // the visits of the only epoch, for tests
    double rho = 0;                        // of the intercept; 0: chosen, infinity: as any other weight
    std::size_t joins = 0;  // of the threads in an epoch; 0: chosen, with epochs that one thread makes alone
};

Solution solve_sdca(const Problem& problem, const SdcaOptions& options, const Start& start, Context& context);

struct MpuOptions {
    double delta = 0.1;
    double tol = 0;
    double max_epochs = 1;
    bool blocks = true;  // false: a plain permutation
    std::uint64_t seed = 0;
    std::vector<RowNumber> sequence = {};  // the visits of the only epoch, for tests
};

Solution solve_mpu(const Problem& problem, const MpuOptions& options, const Start& start, Context& context);

struct InteriorPointOptions {
    double tol = 0;
    std::uint64_t max_iterations = 1;
    double goal = 0;  // a gap below tol to go for, where it can be had; 0: tol
};

Solution solve_interior_point(const Problem& problem, const InteriorPointOptions& options, const Start& start,
                              Context& context);

struct OcasOptions {
    double tol = 0;
    std::uint64_t max_iterations = 1;
    bool line_search = true;  // false: CPA
};

Solution solve_ocas(const Problem& problem, const OcasOptions& options, const Start& start, Context& context);

struct NewtonOptions {
    double tol = 0;
    std::uint64_t max_iterations = 1;
    bool exact = true;  // whether steps solve their equations by a matrix; false: by conjugate gradients
    double goal = 0;    // a gap below `tol` to go for, where it can be had
};

Solution solve_newton(const Problem& problem, const NewtonOptions& options, const Start& start,
                      Context& context);

}  // namespace pegasos
