// The kernel solvers, in both precisions.
#include "instances/kernel_dispatch.hpp"

namespace pegasos {

template <class Real>
Gram<Real> make_gram(const KernelTask<Real>& task) {
    return {task.source, task.cached_rows, task.context.team, task.context.monitor};
}

template <class Real>
KernelSolution solve_smo(const KernelTask<Real>& task, const SmoOptions& options,
                         const std::vector<double>& start) {
    Gram<Real> gram = make_gram(task);
    return Smo<Real>(task.problem, gram, options, task.context).run(start);
}

template <class Real>
KernelSolution solve_kernel_sdca(const KernelTask<Real>& task, const KernelSdcaOptions& options,
                                 const std::vector<double>& start, const std::vector<RowNumber>& sequence) {
    Gram<Real> gram = make_gram(task);
    return KernelSdca<Real>(task.problem, gram, options, task.context).run(start, sequence);
}

template <class Real>
KernelSolution solve_kernel_walk(const KernelTask<Real>& task, const KernelWalkOptions& options,
                                 const Labelled& examples, Sampler& sampler, const HoldOut& held_out) {
    Gram<Real> gram = make_gram(task);
    return KernelWalk<Real>(task.problem, examples.labels, examples.weights, gram, options, sampler, held_out,
                            task.context)
        .run();
}

template <class Real>
KernelSolution solve_sbp(const KernelTask<Real>& task, const SbpOptions& options, const Labelled& examples,
                         const std::vector<Proposal>& proposals, const HoldOut& held_out) {
    Gram<Real> gram = make_gram(task);
    return Sbp<Real>(task.problem, examples.labels, examples.weights, gram, options, held_out, task.context)
        .run(proposals);
}

template <class Real>
void add_decisions(const Kernel& kernel, Points<Real> few, std::span<const double> coef, std::size_t n_out,
                   Points<Real> many, double* out, Context& context) {
    std::vector<Real> squares(many.n);
    context.team.run_ranges(many.n, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) squares[i] = static_cast<Real>(many.squared_norm(i));
    });
    std::vector<RowNumber> rows(few.n);
    std::iota(rows.begin(), rows.end(), RowNumber{0});
    const ByteRows few_bytes = ByteRows::of(few, context.team), many_bytes = ByteRows::of(many, context.team);
    if (!few_bytes.empty() && !many_bytes.empty()) {
        few.bytes = &few_bytes;
        many.bytes = &many_bytes;
    }
    with_table(few, many, few.n, [&]<class T>(T& table) {
        std::vector<Real, AtLine<Real>> weights(n_out *
                                                T::width);  // of the table's examples, output by output
        for (std::size_t j = 0; j < few.n; j += T::width) {
            const std::size_t count = std::min(T::width, few.n - j);
            table.fill(few, std::span<const RowNumber>(rows).subspan(j, count));
            std::fill(weights.begin(), weights.end(), Real{0});
            for (std::size_t r = 0; r < count; ++r)
                for (std::size_t k = 0; k < n_out; ++k)
                    weights[k * T::width + r] = static_cast<Real>(coef[(j + r) * n_out + k]);
            in_stretches(many.n, stretch, T::width * n_out, context.team, context.monitor,
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

#define PEGASOS_INSTANTIATE_KERNEL(Real)                                                                  \
    template KernelSolution solve_smo(const KernelTask<Real>&, const SmoOptions&,                         \
                                      const std::vector<double>&);                                        \
    template KernelSolution solve_kernel_sdca(const KernelTask<Real>&, const KernelSdcaOptions&,          \
                                              const std::vector<double>&, const std::vector<RowNumber>&); \
    template KernelSolution solve_kernel_walk(const KernelTask<Real>&, const KernelWalkOptions&,          \
                                              const Labelled&, Sampler&, const HoldOut&);                 \
    template KernelSolution solve_sbp(const KernelTask<Real>&, const SbpOptions&, const Labelled&,        \
                                      const std::vector<Proposal>&, const HoldOut&);                      \
    template void add_decisions(const Kernel&, Points<Real>, std::span<const double>, std::size_t,        \
                                Points<Real>, double*, Context&);

PEGASOS_INSTANTIATE_KERNEL(float)
PEGASOS_INSTANTIATE_KERNEL(double)

}  // namespace pegasos
