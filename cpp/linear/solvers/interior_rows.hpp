// The rows that a run of the interior-point method works on (interior_point.cpp), each with a loss max(0, t -
// z) or its square, z = <w, a>, a = y x.
//
// For classification t = 1 and y is the label. The epsilon-insensitive loss is two rows, side by side, of
// thresholds t = y - epsilon and t = -(y + epsilon), with the signs 1 and -1. So is the quantile loss,
// with epsilon = 0 and costs of its own for the two; and Huber's, with epsilon = 0 and corners that are
// round.
//
// Rows may be left out (hinge only), with alpha = 0 or alpha = c. The latter are `kept`: their loss c (1 - z)
// is linear in w, and all that is needed of them are sums.
#pragma once

#include <cstddef>
#include <vector>

#include "base/function_ref.hpp"
#include "base/sampling.hpp"
#include "linear/problem.hpp"

namespace pegasos {

struct InteriorRows {
    std::vector<RowNumber> numbers;
    std::vector<double> c, y, threshold;
    bool some_left_out = false;
    std::vector<double> kept[2];   // sums of the rows kept, a negative and a positive class
    double kept_cost[2] = {0, 0};  // and of their c
    // Sums of c a and c a^2, a what a score may be off by over u ||w||, the threshold, or the norm.
    double scores[2] = {0, 0}, thresholds[2] = {0, 0}, norms[2] = {0, 0};

    std::size_t size() const { return numbers.size(); }

    /// Those chosen that have a weight. The others keep the alpha that q says, 0 or c.
    void take(const Problem& problem, const std::vector<double>& q, FunctionRef<bool(std::size_t)> chosen);

private:
    void push(std::size_t row, double cost, double sign, double at) {
        numbers.push_back(static_cast<RowNumber>(row));
        c.push_back(cost);
        y.push_back(sign);
        threshold.push_back(at);
    }
};

}  // namespace pegasos
