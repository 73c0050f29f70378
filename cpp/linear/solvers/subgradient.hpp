// Stochastic sub-gradient descent: its options. What it does is in subgradient.cpp.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/sampling.hpp"
#include "base/solution.hpp"
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

struct SubgradientOptions {
    std::uint64_t batch = 1;
    bool project = false;
    double radius = 0;             // of the ball to project onto; 0: the one that must contain the optimum
    bool count_idle_steps = true;  // false: t does not advance on a step without violation (S2 section 4.5)
    Output output = Output::last;
    std::uint64_t random_stops = 1;  // draws of the stopping time, for Output::random_stop (S0 Lemma 3)
    std::uint64_t stop_sample = 0;   // rows to compare the stops on; 0: all
    std::uint64_t max_steps = 1;
    double tol = 0;
    std::uint64_t seed = 0;
    Intercept intercept = Intercept::in_w;
    Schedule schedule = {};
};

Solution solve_subgradient(const Problem& problem, SubgradientOptions options, Sampler& sampler,
                           const Start& start, Context& context);

}  // namespace pegasos
