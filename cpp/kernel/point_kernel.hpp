// The kernel matrix of examples and a kernel, computed in blocks (blocks.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernel/byte_rows.hpp"
#include "kernel/kernel.hpp"
#include "kernel/points.hpp"
#include "kernel/source.hpp"

namespace pegasos {

/// Compiled for float and double in point_kernel.cpp.
template <class Real>
class PointKernel final : public KernelSource<Real> {
public:
    /// `entries_error`: that of the entries, relative, where they are not those of the problem.
    PointKernel(const Points<Real>& points, const Kernel& kernel, Team& team, double entries_error = 0);
    PointKernel(const PointKernel&) = delete;
    PointKernel& operator=(const PointKernel&) = delete;
    std::size_t size() const override { return points_.n; }
    double diagonal(std::size_t i) const override { return diagonal_[i]; }
    double error() const override { return error_; }
    double largest() const override { return largest_; }

    /// sums[i] += sum_j coef[j] K(j, i) of the first examples, as many as there are coefficients. Each value
    /// is computed once for both that it belongs to.
    void accumulate_square(std::span<const double> coef, double* sums, Team& team, Monitor& monitor);

    void compute(std::span<const RowNumber> rows, std::span<const RowNumber> columns,
                 std::span<Real* const> out, Team& team, Monitor& monitor) override;
    bool accumulates() const override { return true; }
    bool accumulate(std::span<const RowNumber> rows, std::span<const double> steps,
                    std::span<const RowNumber> columns, double* sums, Team& team, Monitor& monitor) override;

private:
    bool has_whole_numbers() const;
    double cut_rows(double longest);
    std::size_t mean_entries() const;
    template <class T>
    void fill(T& table, std::span<const RowNumber> rows, const Points<Real>& many, std::span<Real* const> out,
              Team& team, Monitor& monitor);

    const ByteRows bytes_;
    Points<Real> points_;
    const Kernel kernel_;
    std::vector<Real> squares_;
    std::vector<double> diagonal_;
    double error_ = 0, largest_ = 0;
};

extern template class PointKernel<float>;
extern template class PointKernel<double>;

/// out[i * n_out + k] += sum_j coef[j * n_out + k] K(many_i, few_j)
template <class Real>
void add_decisions(const Kernel& kernel, Points<Real> few, std::span<const double> coef, std::size_t n_out,
                   Points<Real> many, double* out, Team& team, Monitor& monitor);

extern template void add_decisions(const Kernel&, Points<float>, std::span<const double>, std::size_t,
                                   Points<float>, double*, Team&, Monitor&);
extern template void add_decisions(const Kernel&, Points<double>, std::span<const double>, std::size_t,
                                   Points<double>, double*, Team&, Monitor&);

}  // namespace pegasos
