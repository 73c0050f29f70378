// The intercept b that minimises the hinge sum of some rows, sum_i s_i max(0, 1 - y_i (z_i + b)), given their
// responses z_i (S0 eq. 24).
//
// As a function of b, row i has a kink at r_i = y_i - z_i: a positive row has a loss to the left of it, a
// negative one to the right. The slope of the sum at b is therefore
//     sum_{r_i < b} s_i - W,    W the weight of the positive rows,
// and the minimiser the weighted quantile of the kinks at rank W. Where a stretch of b minimises, its middle
// is taken. Where the slope passes zero at a kink, the rows of that kink have a share of their slopes such
// that the weighted slopes of the two classes are equal; only then are the slopes those of a sub-gradient of
// the minimum. Rows of one class have no minimiser.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace pegasos {

/// Where a row's loss begins or ends.
struct Kink {
    double at;             // y_i - z_i
    double signed_weight;  // y_i s_i

    double weight() const { return std::abs(signed_weight); }
};

struct BestIntercept {
    bool exists = false;
    double b = 0;
    double share = 0;  // of the slope that negative rows at b have; positive ones have the rest

    /// Minus the derivative of a row's loss in its margin.
    double slope(const Kink& row) const {
        const bool positive = row.signed_weight > 0;
        if (row.at == b) return positive ? 1 - share : share;
        return (row.at > b) == positive ? 1 : 0;
    }
};

/// In O(size of kinks), which it reorders.
inline BestIntercept best_intercept(std::vector<Kink>& kinks) {
    std::erase_if(kinks, [](const Kink& row) { return row.signed_weight == 0; });
    double rank = 0, total = 0;
    for (const Kink& row : kinks) {
        rank += std::max(row.signed_weight, 0.0);
        total += row.weight();
    }
    if (!(rank > 0 && rank < total)) return {};

    // The first kink up to which the weights reach the rank: halves of the range that must hold it.
    std::span<Kink> range(kinks);
    double before = 0;  // weight of the kinks left of the range
    while (range.size() > 1) {
        const std::size_t middle = range.size() / 2;
        std::nth_element(range.begin(), range.begin() + static_cast<std::ptrdiff_t>(middle), range.end(),
                         [](const Kink& a, const Kink& b) { return a.at < b.at; });
        double weight = 0;
        for (const Kink& row : range.first(middle)) weight += row.weight();
        if (before + weight >= rank) {
            range = range.first(middle);
        } else {
            before += weight;
            range = range.subspan(middle);
        }
    }

    const double lower = range.front().at;
    double below = 0, here = 0, upper = std::numeric_limits<double>::infinity();
    for (const Kink& row : kinks) {
        if (row.at < lower) below += row.weight();
        if (row.at == lower) here += row.weight();
        if (row.at > lower) upper = std::min(upper, row.at);
    }
    if (below + here > rank || upper == std::numeric_limits<double>::infinity())
        return {true, lower, std::clamp((rank - below) / here, 0.0, 1.0)};
    const double b = lower + (upper - lower) / 2;
    return {true, b, b == lower ? 1.0 : 0.0};
}

}  // namespace pegasos
