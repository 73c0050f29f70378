// The kernel solvers, in both precisions.
#include "kernel_dispatch.hpp"

namespace pegasos {

template <class Real>
KernelSolution solve_smo(const KernelProblem& problem, KernelSource<Real>& source, std::size_t cached_rows,
                         const SmoOptions& options, const std::vector<double>& start, Context& context) {
    Gram<Real> gram(source, cached_rows, context.team, context.monitor);
    return Smo<Real>(problem, gram, options, context).run(start);
}

template <class Real>
void add_decisions(const Kernel& kernel, const Points<Real>& few, std::span<const double> coef, std::size_t n_out,
                   const Points<Real>& many, double* out, Context& context) {
    std::vector<Real> squares(many.n);
    context.team.run_ranges(many.n, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) squares[i] = static_cast<Real>(many.squared_norm(i));
    });
    std::vector<RowNumber> rows(few.n);
    std::iota(rows.begin(), rows.end(), RowNumber{0});
    with_lines(many, [&]<std::size_t lines>() {
        using T = Table<Real, lines>;
        T table(few.n_features);
        std::vector<Real, AtLine<Real>> weights(n_out * T::width);  // of the table's examples, output by output
        for (std::size_t j = 0; j < few.n; j += T::width) {
            const std::size_t count = std::min(T::width, few.n - j);
            table.fill(few, std::span<const RowNumber>(rows).subspan(j, count));
            std::fill(weights.begin(), weights.end(), Real{0});
            for (std::size_t r = 0; r < count; ++r)
                for (std::size_t k = 0; k < n_out; ++k)
                    weights[k * T::width + r] = static_cast<Real>(coef[(j + r) * n_out + k]);
            in_stretches(many.n, 64, T::width * n_out, context.team, context.monitor,
                         [&](std::size_t first, std::size_t last) {
                             table.against(kernel, many, squares.data(), first, last,
                                           [&](std::size_t i, const Real* values) {
                                               for (std::size_t k = 0; k < n_out; ++k) {
                                                   const Real* w = &weights[k * T::width];
                                                   Real sum = 0;
#pragma omp simd reduction(+ : sum)
                                                   for (std::size_t r = 0; r < T::width; ++r)
                                                       sum += values[r] * w[r];
                                                   out[i * n_out + k] += static_cast<double>(sum);
                                               }
                                           });
                         });
        }
    });
}

#define PEGASOS_INSTANTIATE_KERNEL(Real)                                                                         \
    template KernelSolution solve_smo(const KernelProblem&, KernelSource<Real>&, std::size_t, const SmoOptions&, \
                                      const std::vector<double>&, Context&);                                     \
    template void add_decisions(const Kernel&, const Points<Real>&, std::span<const double>, std::size_t,        \
                                const Points<Real>&, double*, Context&);

PEGASOS_INSTANTIATE_KERNEL(float)
PEGASOS_INSTANTIATE_KERNEL(double)

}  // namespace pegasos
