// Parts of a kernel problem that SMO solves on their own (problem.hpp has the symbols).
//
// The problem of some examples, the others as they are, is one of the same form in what changes: with
// delta = beta - beta' it has the targets u' - b, the bounds lo - beta' and hi - beta', and begins at zero.
// Its rows of the kernel matrix are as short as the part. Its responses are by how much those of its examples
// change, so afterwards only those of the others are left to compute.
//
// Which part: at first examples at random. From responses that are known roughly, those that are not settled:
// a variable is settled at a bound at which its slope keeps it, the more firmly the steeper that is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "kernel/problem.hpp"

namespace pegasos {

struct SmoSubset {
    std::vector<RowNumber> rows, others;  // examples
    std::vector<RowNumber> variables;     // of the whole problem
    KernelProblem problem;

    /// The examples i with some[i], at beta, its responses and intercept.
    SmoSubset(const KernelProblem& whole, const std::vector<bool>& some, const std::vector<double>& beta,
              const std::vector<double>& f, double b) {
        std::vector<RowNumber> numbers(whole.n_rows);
        for (std::size_t i = 0; i < whole.n_rows; ++i) {
            numbers[i] = static_cast<RowNumber>(rows.size());
            (some[i] ? rows : others).push_back(static_cast<RowNumber>(i));
        }
        problem.n_rows = rows.size();
        problem.free_intercept = whole.free_intercept;
        for (std::size_t v = 0; v < whole.size(); ++v) {
            const RowNumber i = whole.row[v];
            if (!some[i]) continue;
            variables.push_back(static_cast<RowNumber>(v));
            problem.row.push_back(numbers[i]);
            problem.t.push_back(whole.t[v] - f[i] - b);
            problem.lo.push_back(whole.lo[v] - beta[v]);
            problem.hi.push_back(whole.hi[v] - beta[v]);
        }
    }

    /// The value of the whole problem's variable after a change of the part's k-th, its bounds exactly.
    double changed(const KernelProblem& whole, std::size_t k, double before, double change) const {
        const std::size_t v = variables[k];
        if (change == problem.lo[k]) return whole.lo[v];
        if (change == problem.hi[k]) return whole.hi[v];
        return std::clamp(before + change, whole.lo[v], whole.hi[v]);
    }
};

/// Each example with this probability.
inline std::vector<bool> some_at_random(std::size_t n, double share, Random& random) {
    std::vector<bool> some(n);
    for (std::size_t i = 0; i < n; ++i) some[i] = random.uniform() < share;
    return some;
}

/// This share of the examples, those least settled.
inline std::vector<bool> least_settled(const KernelProblem& problem, double share,
                                       const std::vector<double>& beta, const std::vector<double>& f,
                                       double b) {
    std::vector<double> firmness(problem.n_rows, std::numeric_limits<double>::infinity());
    for (std::size_t v = 0; v < problem.size(); ++v) {
        const RowNumber i = problem.row[v];
        const double slope = problem.t[v] - f[i] - b;
        const bool settled = slope < 0 ? beta[v] == problem.lo[v] : beta[v] == problem.hi[v];
        firmness[i] = std::min(firmness[i], settled ? std::abs(slope) : 0.0);
    }
    std::vector<double> sorted = firmness;
    const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size()));
    std::nth_element(sorted.begin(), sorted.begin() + place, sorted.end());
    std::vector<bool> some(problem.n_rows);
    for (std::size_t i = 0; i < some.size(); ++i)
        some[i] = firmness[i] < sorted[static_cast<std::size_t>(place)];
    return some;
}

}  // namespace pegasos
