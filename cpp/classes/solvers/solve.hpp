// The solvers of problems with several classes as others see them: their options, and how each is called.
// What a solver does is in the file of its name.
#pragma once

#include <functional>
#include <vector>

#include "classes/multiclass.hpp"
#include "linear/solvers/solve.hpp"

namespace pegasos {

/// Of all classes jointly. Where visits are given, intercepts are as any weight.
Solution solve_sdca_jointly(const JointProblem& problem, const SdcaOptions& options, const Start& start,
                            Context& context);

Solution solve_subgradient_jointly(const JointProblem& problem, const IterateOptions& options,
                                   Sampler& sampler, const Start& start, Context& context);

/// SGD-s.
Solution solve_sgd_jointly(const JointProblem& problem, const SgdOptions& options, Sampler& sampler,
                           const Start& start, Context& context);

/// By conjugate gradients, whatever the options say of equations.
Solution solve_newton_jointly(const JointProblem& problem, const NewtonOptions& options, const Start& start,
                              Context& context);

/// Of several classes, each against the rest.
struct SharedSdcaOptions : SdcaOptions {
    std::size_t first = 0, last = 0;  // the classes to train
    double shared_epochs = 1;         // what is left after so many is handed over
    bool keep_points = false;         // dual points of classes that reached tol
};

/// Told of the checks of each class, by its number.
using ClassReport = std::function<bool(std::size_t, const Record&, const WeightsFunction&)>;

/// A solution for each class; the labels of the problem are the numbers of the rows' classes.
std::vector<Solution> solve_shared_sdca(const Problem& problem, const SharedSdcaOptions& options,
                                        const ClassReport& report, Context& context);

}  // namespace pegasos
