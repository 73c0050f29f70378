// Where names become template instances, for several classes, each against the rest, that share passes.
#pragma once

#include <vector>

#include "classes/solvers/shared_sdca.hpp"
#include "linear/problem.hpp"

namespace pegasos {

struct SharedSdcaRequest {
    SharedSdcaOptions options;
    std::vector<RowNumber> sequence;  // visits of the only epoch, for tests
    ClassReport report;
};

/// A solution for each class of the request; the labels of the problem are the numbers of the rows' classes.
template <class Rows>
std::vector<Solution> solve_shared_sdca(const Rows& rows, const Problem& problem,
                                        const SharedSdcaRequest& request, Context& context);

}  // namespace pegasos
