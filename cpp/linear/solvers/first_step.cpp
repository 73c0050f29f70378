// The size of the first steps, as Bottou's svmsgd finds it: powers of two are tried on a sample, each in one
// pass of steps of that size, and the one with the lowest objective on that sample is taken. One trial:
//
//   w <- (1 - eta lambda) w + eta m s_i / sum(s) slope_i y_i x_i      for the rows i of the sample, in order
//   lambda/2 ||w||^2 + 1/n sum_i m s_i / sum(s) loss(y_i <w, x_i>)    over the n rows of the sample
//
// src/pegasos/solvers/step_sizes.py has the search.
#include "linear/scaled_vector.hpp"
#include "linear/solvers/solve.hpp"

namespace pegasos {

double trial_objective(const Problem& problem, double eta, std::span<const RowNumber> sample) {
    const double lambda = problem.lambda(),
                 scale = static_cast<double>(problem.n_rows()) / problem.total_weight;
    ScaledVector w(problem.dimension());
    Sum losses;
    problem.rows.visit([&](const auto& rows) {
        for (const RowNumber i : sample) {
            const double sign = problem.sign(i), y = problem.labels[i],
                         slope = problem.loss.slope(sign * w.dot(rows, i), y);
            w.scale(1 - eta * lambda);
            if (slope != 0) w.add(rows, i, eta * scale * problem.weights[i] * slope * sign);
        }
        for (const RowNumber i : sample)
            losses.add(scale * problem.weights[i] *
                       problem.loss.value(problem.sign(i) * w.dot(rows, i), problem.labels[i]));
    });
    return lambda / 2 * w.exact_squared_norm() + losses.value() / static_cast<double>(sample.size());
}

}  // namespace pegasos
