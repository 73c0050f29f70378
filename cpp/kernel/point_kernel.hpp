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

/// What the examples that decisions are made of weigh: that of example j in sum k is values[k * row + j *
/// column]. They are in groups, `ends` of each, which have sums of their own.
struct SupportWeights {
    const double* values;
    std::ptrdiff_t row, column;
    std::size_t n_out;
    std::vector<std::size_t> ends;

    double of(std::size_t k, std::size_t j) const {
        return values[static_cast<std::ptrdiff_t>(k) * row + static_cast<std::ptrdiff_t>(j) * column];
    }
};

/// The examples that decisions are made of, ready for many calls. Compiled for float and double in
/// point_kernel.cpp.
template <class Real>
class SupportVectors {
public:
    SupportVectors(const Points<Real>& points, const Kernel& kernel, Team& team);
    SupportVectors(const SupportVectors&) = delete;
    SupportVectors& operator=(const SupportVectors&) = delete;

    std::size_t size() const { return points_.n; }
    std::size_t n_features() const { return points_.n_features; }

    /// out[(i * groups + g) * n_out + k] += sum_j w_kj K(x_i, x_j) over the examples j of group g. What comes
    /// of it does not depend on the number of threads.
    void add_decisions(const SupportWeights& weights, Points<Real> rows, double* out, Team& team,
                       Monitor& monitor) const;

private:
    void add_of_many(const SupportWeights& weights, const Points<Real>& rows, double* out, Team& team,
                     Monitor& monitor) const;
    void add_of_few(const SupportWeights& weights, const Points<Real>& rows, double* out, Team& team,
                    Monitor& monitor) const;

    const ByteRows bytes_;
    Points<Real> points_;
    const Kernel kernel_;
    std::vector<Real> squares_;
};

extern template class SupportVectors<float>;
extern template class SupportVectors<double>;

}  // namespace pegasos
