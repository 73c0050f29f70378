#include "linear/neighbours.hpp"

#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace pegasos {

bool neighbours_alike(const Problem& problem, std::uint64_t seed) {
    constexpr std::size_t pairs = 1000;
    if (problem.n_rows() < 2) return false;
    Random random(seed);
    std::vector<double> dense(problem.dimension());
    double sums[2] = {0, 0}, squares[2] = {0, 0};
    problem.rows.visit([&](const auto& rows) {
        const auto likeness = [&](std::size_t i, std::size_t j) {
            const double scale = std::sqrt(rows.squared_norm(i) * rows.squared_norm(j));
            if (!(scale > 0)) return 0.0;
            rows.add(i, 1, dense.data());
            const double dot = rows.dot(j, dense.data());
            rows.add(i, -1, dense.data());
            return problem.labels[i] * problem.labels[j] * dot / scale;
        };
        for (std::size_t p = 0; p < pairs; ++p) {
            const std::size_t i = random.below(rows.n_rows - 1);
            const double alike[2] = {likeness(i, i + 1), likeness(i, random.below(rows.n_rows))};
            for (int kind = 0; kind < 2; ++kind) {
                sums[kind] += alike[kind];
                squares[kind] += alike[kind] * alike[kind];
            }
        }
    });
    double variance = 0;  // of the difference of the means
    for (int kind = 0; kind < 2; ++kind) {
        const double mean = sums[kind] / pairs;
        variance += (squares[kind] / pairs - mean * mean) / pairs;
    }
    return std::abs(sums[0] - sums[1]) / pairs > 4 * std::sqrt(variance);
}

}  // namespace pegasos
