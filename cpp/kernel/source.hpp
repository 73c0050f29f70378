// Where the values of a kernel matrix come from: examples and a kernel (point_kernel.hpp), a matrix that is
// there, or a function.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/monitor.hpp"
#include "base/sampling.hpp"
#include "base/threads.hpp"

namespace pegasos {

/// Computes parts of the kernel matrix of n examples.
template <class Real>
class KernelSource {
public:
    virtual ~KernelSource() = default;
    virtual std::size_t size() const = 0;
    virtual double diagonal(std::size_t i) const = 0;
    /// How far a value may be from what it stands for, and how large it is at most.
    virtual double error() const = 0;
    virtual double largest() const = 0;
    /// out[k][c] is the kernel of rows[k] and columns[c]; all n where no columns are given.
    virtual void compute(std::span<const RowNumber> rows, std::span<const RowNumber> columns,
                         std::span<Real* const> out, Team& team, Monitor& monitor) = 0;
    /// Whether `compute` with few columns costs less than with all.
    virtual bool by_columns() const { return true; }
    /// sums[c] += sum_k steps[k] K(rows[k], columns[c]), without the rows themselves; all n where no columns
    /// are given. False where they would have to be computed just the same.
    virtual bool accumulate(std::span<const RowNumber> /*rows*/, std::span<const double> /*steps*/,
                            std::span<const RowNumber> /*columns*/, double* /*sums*/, Team&, Monitor&) {
        return false;
    }
    /// Whether it does.
    virtual bool accumulates() const { return false; }
};

/// Calls f(first, last) on ranges of [0, n) in all threads, a stretch at a time; thread 0 tells the monitor.
template <class F>
void in_stretches(std::size_t n, std::size_t stretch, std::size_t work, Team& team, Monitor& monitor, F f) {
    team.run_ranges(n, [&](std::size_t k, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; i += stretch) {
            const std::size_t end = std::min(i + stretch, last);
            f(i, end);
            if (k == 0) monitor.worked((end - i) * work);
            if (team.failed()) return;
        }
    });
}

/// From a matrix that is there.
template <class Real, class Given>
class GivenKernel final : public KernelSource<Real> {
public:
    GivenKernel(const Given* values, std::size_t n, std::size_t stride)
        : values_(values), n_(n), stride_(stride) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                largest_ = std::max(largest_, std::abs(static_cast<double>(values[i * stride + j])));
    }
    std::size_t size() const override { return n_; }
    double diagonal(std::size_t i) const override { return static_cast<double>(values_[i * stride_ + i]); }
    double error() const override { return 0; }
    double largest() const override { return largest_; }
    void compute(std::span<const RowNumber> rows, std::span<const RowNumber> columns,
                 std::span<Real* const> out, Team& team, Monitor& monitor) override {
        const std::size_t width = columns.empty() ? n_ : columns.size();
        in_stretches(rows.size(), 16, width, team, monitor, [&](std::size_t first, std::size_t last) {
            for (std::size_t k = first; k < last; ++k) {
                const Given* row = values_ + rows[k] * stride_;
                for (std::size_t c = 0; c < width; ++c)
                    out[k][c] = static_cast<Real>(row[columns.empty() ? c : columns[c]]);
            }
        });
    }

private:
    const Given* values_;
    const std::size_t n_, stride_;
    double largest_ = 0;
};

/// Whole rows from a function, in blocks of at most `block` of them.
template <class Real>
class CalledKernel final : public KernelSource<Real> {
public:
    using Function = std::function<void(std::span<const RowNumber> rows, std::span<Real* const> out)>;
    static constexpr std::size_t block = 256;

    CalledKernel(Function function, std::vector<double> diagonal)
        : function_(std::move(function)), diagonal_(std::move(diagonal)) {
        for (const double own : diagonal_) largest_ = std::max(largest_, std::abs(own));
    }
    std::size_t size() const override { return diagonal_.size(); }
    double diagonal(std::size_t i) const override { return diagonal_[i]; }
    double error() const override { return 0; }
    double largest() const override { return largest_; }
    bool by_columns() const override { return false; }
    void compute(std::span<const RowNumber> rows, std::span<const RowNumber> columns,
                 std::span<Real* const> out, Team&, Monitor& monitor) override {
        std::vector<Real> whole(columns.empty() ? 0 : block * size());
        std::vector<Real*> places(block);
        for (std::size_t k = 0; k < rows.size(); k += block) {
            const std::size_t count = std::min(block, rows.size() - k);
            for (std::size_t r = 0; r < count; ++r)
                places[r] = columns.empty() ? out[k + r] : &whole[r * size()];
            function_(rows.subspan(k, count), std::span<Real* const>(places).first(count));
            for (std::size_t r = 0; r < count && !columns.empty(); ++r)
                for (std::size_t c = 0; c < columns.size(); ++c) out[k + r][c] = places[r][columns[c]];
            monitor.look();
        }
    }

private:
    Function function_;
    std::vector<double> diagonal_;
    double largest_ = 0;  // of the diagonal, and so of all of a positive semi-definite matrix
};

/// Of some of the examples of another source alone.
template <class Real>
class PartKernel final : public KernelSource<Real> {
public:
    PartKernel(KernelSource<Real>& whole, std::vector<RowNumber> rows)
        : whole_(whole), rows_(std::move(rows)) {}
    std::size_t size() const override { return rows_.size(); }
    double diagonal(std::size_t i) const override { return whole_.diagonal(rows_[i]); }
    double error() const override { return whole_.error(); }
    double largest() const override { return whole_.largest(); }
    void compute(std::span<const RowNumber> rows, std::span<const RowNumber> columns,
                 std::span<Real* const> out, Team& team, Monitor& monitor) override {
        whole_.compute(named(rows), columns.empty() ? rows_ : named(columns), out, team, monitor);
    }
    bool by_columns() const override { return whole_.by_columns(); }
    bool accumulates() const override { return whole_.accumulates(); }
    bool accumulate(std::span<const RowNumber> rows, std::span<const double> steps,
                    std::span<const RowNumber> columns, double* sums, Team& team, Monitor& monitor) override {
        return whole_.accumulate(named(rows), steps, columns.empty() ? rows_ : named(columns), sums, team,
                                 monitor);
    }

private:
    std::vector<RowNumber> named(std::span<const RowNumber> which) const {
        std::vector<RowNumber> names;
        for (const RowNumber i : which) names.push_back(rows_[i]);
        return names;
    }

    KernelSource<Real>& whole_;
    const std::vector<RowNumber> rows_;
};

/// In the precision that values are computed in.
using AnySource = std::variant<std::unique_ptr<KernelSource<float>>, std::unique_ptr<KernelSource<double>>>;

}  // namespace pegasos
