#include "kernel/certificate.hpp"

namespace pegasos {

KernelBounds judge(const KernelProblem& problem, ExactSums& exact, const std::vector<double>& beta,
                   const std::vector<double>& f, double error, const double* b, bool dual_only,
                   Context& context) {
    std::vector<double> by_row(problem.n_rows), responses = f;
    for (std::size_t v = 0; v < problem.size(); ++v) by_row[problem.row[v]] += beta[v];
    const double near = b ? *b : best_intercept_of(problem, f), off = 2.1 * error;
    std::vector<bool> matters(problem.n_rows);
    for (std::size_t v = 0; v < problem.size() && !dual_only; ++v) {
        const double slope = problem.t[v] - f[problem.row[v]] - near;
        if (problem.loss(v, slope + off) > 0 || problem.loss(v, slope - off) > 0 || !std::isfinite(off))
            matters[problem.row[v]] = true;
    }
    std::vector<RowNumber> all;
    std::vector<double> coef;
    for (std::size_t i = 0; i < problem.n_rows; ++i)
        if (by_row[i] != 0) {
            all.push_back(static_cast<RowNumber>(i));
            coef.push_back(by_row[i]);
        }
    for (std::size_t i = 0; i < problem.n_rows; ++i)
        if (by_row[i] == 0 && matters[i]) all.push_back(static_cast<RowNumber>(i));
    std::vector<double> sums(all.size()), errors(problem.n_rows, error);
    const SumError found = exact.compute(all, coef, sums.data(), context.team, context.monitor);
    for (std::size_t k = 0; k < all.size(); ++k) {
        responses[all[k]] = sums[k];
        errors[all[k]] = found.of(sums[k]);
    }
    return bounds_of(problem, beta, responses, b ? *b : best_intercept_of(problem, responses),
                     std::numeric_limits<double>::infinity(), [&](std::size_t i) { return errors[i]; });
}

KernelBounds bounds_at(const KernelProblem& problem, const std::vector<double>& beta,
                       const std::vector<double>& f, double error, double b) {
    return bounds_of(problem, beta, f, b, std::numeric_limits<double>::infinity(),
                     [&](std::size_t) { return error; });
}

}  // namespace pegasos
