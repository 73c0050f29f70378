// SDCA on several classes at once, each against the rest: its options. What it does is in shared_sdca.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "linear/problem.hpp"

namespace pegasos {

struct SharedSdcaOptions {
    static constexpr double coarse = 1e-5;  // the smallest tol for which W and q are of floats

    std::size_t first = 0, last = 0;  // the classes to train
    bool shrink = true;
    bool blocks = false;  // false: a plain permutation
    double tol = 0;
    double max_epochs = 1;
    double shared_epochs = 1;  // what is left after so many is handed over
    bool keep_points = false;  // dual points of classes that reached tol
    std::uint64_t seed = 0;
    std::vector<RowNumber> sequence =
        {};  // the visits of the only epoch, for tests: intercepts as any weight
};

/// Told of the checks of each class, by its number.
using ClassReport = std::function<void(std::size_t, const Record&)>;

/// A solution for each class; the labels of the problem are the numbers of the rows' classes.
std::vector<Solution> solve_shared_sdca(const Problem& problem, const SharedSdcaOptions& options,
                                        const ClassReport& report, Context& context);

}  // namespace pegasos
