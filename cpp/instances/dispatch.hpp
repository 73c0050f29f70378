// The only place where run-time names become template instances.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/monitor.hpp"
#include "base/sampling.hpp"
#include "linear/losses.hpp"
#include "linear/neighbours.hpp"
#include "linear/problem.hpp"
#include "linear/solvers/constant_step.hpp"
#include "linear/solvers/interior_point.hpp"
#include "linear/solvers/norm_ball.hpp"
#include "linear/solvers/norma.hpp"
#include "linear/solvers/perceptron.hpp"
#include "linear/solvers/sdca.hpp"
#include "linear/solvers/sgd.hpp"
#include "linear/solvers/subgradient.hpp"
#include "rows/any_rows.hpp"
#include "rows/inspect.hpp"

namespace pegasos {

/// Labels or targets, weights, C and loss: the problem less its rows.
struct ProblemData {
    std::span<const double> labels, weights;
    double C;
    std::string loss;
    double epsilon = 0;  // of the losses for regression
    bool free_intercept = false;
};

struct SubgradientRequest {
    std::string schedule;             // "pegasos", "norma", "constant", "perceptron", "norm_ball"
    double step_parameter;            // where the schedule has one
    std::string sampling;             // "blocks", "permute", "fixed", "replace", "subset"
    std::vector<RowNumber> sequence;  // instead of sampling, for tests
    SubgradientOptions options;
    Start start;
};

struct SdcaRequest {
    SdcaOptions options;
    std::vector<RowNumber> sequence;  // visits of the first epoch, for tests
    Start start;
};

struct InteriorPointRequest {
    InteriorPointOptions options;
    Start start;
};

struct SgdRequest {
    SgdOptions options;
    std::string sampling;
    std::uint64_t seed;
    std::vector<RowNumber> sequence;  // instead of sampling, for tests
    Start start;
};

/// f(loss) for the loss of that name.
template <class F>
auto with_loss(const ProblemData& data, F f) {
    if (data.loss == "hinge") return f(Hinge{});
    if (data.loss == "squared_hinge") return f(SquaredHinge{});
    if (data.loss == "log_loss") return f(LogLoss{});
    if (data.loss == "epsilon_insensitive") return f(EpsilonInsensitive{{}, data.epsilon});
    if (data.loss == "squared_epsilon_insensitive") return f(SquaredEpsilonInsensitive{{}, data.epsilon});
    throw std::invalid_argument("unknown loss '" + data.loss + "'");
}

template <class F>
auto with_schedule_for_hinge(const SubgradientRequest& request, double lambda, F f) {
    if (request.schedule == "norma") return f(NormaSteps{lambda, request.step_parameter});
    if (request.schedule == "constant") return f(ConstantSteps{lambda, request.step_parameter});
    if (request.schedule == "perceptron") return f(PerceptronSteps{request.step_parameter});
    if (request.schedule == "norm_ball") return f(NormBallSteps{request.step_parameter});
    throw std::invalid_argument("unknown schedule '" + request.schedule + "'");
}

/// The same, with the losses other than hinge as one.
template <class F>
auto with_hinge_or_other(const ProblemData& data, F f) {
    return with_loss(data, [&]<class Loss>(const Loss& loss) {
        if constexpr (std::is_same_v<Loss, Hinge>)
            return f(loss);
        else
            return f(AnyLoss(loss));
    });
}

/// f(schedule) for the step sizes of that name. Losses other than hinge have those of Pegasos alone.
template <class Loss, class F>
auto with_schedule(const SubgradientRequest& request, double lambda, F f) {
    if (request.schedule == "pegasos") return f(PegasosSteps{lambda});
    if constexpr (!std::is_same_v<Loss, Hinge>)
        throw std::invalid_argument("the schedule '" + request.schedule + "' serves the hinge loss alone");
    else
        return with_schedule_for_hinge(request, lambda, f);
}

inline std::unique_ptr<Sampler> make_sampler(const std::string& sampling,
                                             const std::vector<RowNumber>& sequence, std::size_t n_rows,
                                             std::uint64_t batch, std::uint64_t seed) {
    if (n_rows == 0 || batch == 0) throw std::invalid_argument("no rows to draw from, or none to draw");
    if (sampling == "subset" && batch > n_rows)
        throw std::invalid_argument("a batch of different rows cannot be larger than the number of rows");
    if (!sequence.empty()) return std::make_unique<Given>(sequence);
    if (sampling == "blocks") return std::make_unique<Blocks>(n_rows, seed);
    if (sampling == "permute") return std::make_unique<Permutations>(n_rows, seed, true);
    if (sampling == "fixed") return std::make_unique<Permutations>(n_rows, seed, false);
    if (sampling == "replace") return std::make_unique<WithReplacement>(n_rows, seed);
    if (sampling == "subset") return std::make_unique<Subsets>(n_rows, batch, seed);
    throw std::invalid_argument("unknown sampling '" + sampling + "'");
}

inline Output output_named(const std::string& name) {
    if (name == "best") return Output::best;
    if (name == "best_suffix") return Output::best_suffix;
    if (name == "last") return Output::last;
    if (name == "average") return Output::average;
    if (name == "suffix") return Output::suffix;
    if (name == "random_stop") return Output::random_stop;
    throw std::invalid_argument("unknown output '" + name + "'");
}

inline Intercept intercept_named(const std::string& name) {
    if (name == "in_w") return Intercept::in_w;
    if (name == "subgradient") return Intercept::subgradient;
    if (name == "batch") return Intercept::batch;
    if (name == "fixed") return Intercept::fixed;
    throw std::invalid_argument("unknown intercept '" + name + "'");
}

/// Instantiated for each kind of rows in instances/*.cpp, so that the compiler can work on them side by side.
template <class Rows>
Solution solve_subgradient(const Rows& rows, const ProblemData& data, const SubgradientRequest& request,
                           Context& context);

template <class Rows>
Solution solve_sgd(const Rows& rows, const ProblemData& data, const SgdRequest& request, Context& context);

template <class Rows>
Solution solve_sdca(const Rows& rows, const ProblemData& data, const SdcaRequest& request, Context& context);

template <class Rows>
Solution solve_interior_point(const Rows& rows, const ProblemData& data, const InteriorPointRequest& request,
                              Context& context);

template <class Rows>
Bounds certify(const Rows& rows, const ProblemData& data, const std::vector<double>& w,
               const std::vector<double>& q, double tol, Context& context);

template <class Rows>
bool are_neighbours_alike(const Rows& rows, const ProblemData& data, std::uint64_t seed);

template <class Rows>
RowsReport inspect_rows(const Rows& rows, std::size_t n_stored, Context& context);

}  // namespace pegasos
