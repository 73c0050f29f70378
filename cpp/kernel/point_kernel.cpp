#include "kernel/point_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernel/blocks.hpp"
#include "kernel/error.hpp"

namespace pegasos {

template <class Real>
PointKernel<Real>::PointKernel(const Points<Real>& points, const Kernel& kernel, Team& team,
                               double entries_error)
    : bytes_(kernel.differences ? ByteRows{} : ByteRows::of(points, team)),
      points_(points),
      kernel_(kernel),
      squares_(points.n),
      diagonal_(points.n) {
    if (!bytes_.empty()) points_.bytes = &bytes_;
    const std::size_t n_parts = team.size();
    std::vector<double> largest(n_parts), longest(n_parts);
    team.run_ranges(points.n, [&](std::size_t k, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const double square = points.squared_norm(i);
            squares_[i] = static_cast<Real>(square);
            diagonal_[i] = kernel.of_itself(square);
            largest[k] = std::max(largest[k], square);
            longest[k] = std::max(longest[k], static_cast<double>(points.entries(i)));
        }
    });
    const double square = *std::max_element(largest.begin(), largest.end());
    double terms = *std::max_element(longest.begin(), longest.end());
    if (!bytes_.empty()) {
        terms = 3;  // sums of whole numbers are exact; their conversion and two factors are not
        entries_error += ByteRows::tolerance;
    } else if (terms > 2 * chain) {
        terms = points.sparse() ? cut_rows(terms) : chain + std::ceil(terms / chain);
    }
    largest_ = kernel.kind == Kernel::Kind::rbf || kernel.kind == Kernel::Kind::sigmoid
                   ? 1
                   : kernel.of_itself(std::max(square, 0.0));
    if (kernel.kind == Kernel::Kind::poly)
        largest_ = std::pow(kernel.gamma * square + std::abs(kernel.coef0), kernel.degree);
    const bool whole = entries_error == 0 && 4 * square * rounding_unit<Real> < 1 && has_whole_numbers();
    error_ = KernelError{rounding_unit<Real>, entries_error, terms, square * (1 + 1e-6), whole}.of(kernel);
    largest_ += error_;
}

template <class Real>
void PointKernel<Real>::accumulate_square(std::span<const double> coef, double* sums, Team& team,
                                          Monitor& monitor) {
    const std::size_t n = coef.size();
    std::vector<RowNumber> rows(n);
    std::iota(rows.begin(), rows.end(), RowNumber{0});
    with_table(points_, points_, n, [&]<class T>(T& table) {
        std::vector<double> across(team.size() * T::width);
        for (std::size_t k = 0; k < n; k += T::width) {
            const std::size_t count = std::min(T::width, n - k);
            table.fill(points_, std::span<const RowNumber>(rows).subspan(k, count));
            alignas(64) double own[T::width] = {};
            std::copy_n(coef.begin() + static_cast<std::ptrdiff_t>(k), count, own);
            std::fill(across.begin(), across.end(), 0.0);
            team.run_ranges(n - k, [&](std::size_t thread, std::size_t first, std::size_t last) {
                double* back = &across[thread * T::width];
                for (std::size_t i = k + first; i < k + last; i += stretch) {
                    const std::size_t end = std::min(i + stretch, k + last);
                    table.against(kernel_, points_, squares_.data(), i, end,
                                  [&](std::size_t at, const Real* values) {
                                      const double c = at < k + count ? 0 : coef[at];
                                      double sum = 0;
#pragma omp simd reduction(+ : sum)
                                      for (std::size_t r = 0; r < T::width; ++r) {
                                          const double value = static_cast<double>(values[r]);
                                          sum += own[r] * value;
                                          back[r] += c * value;
                                      }
                                      sums[at] += sum;
                                  });
                    if (thread == 0) monitor.worked((end - i) * mean_entries() * T::width / T::lane);
                    if (team.failed()) return;
                }
            });
            for (std::size_t thread = 0; thread < team.size(); ++thread)
                for (std::size_t r = 0; r < count; ++r) sums[k + r] += across[thread * T::width + r];
        }
    });
}

template <class Real>
void PointKernel<Real>::compute(std::span<const RowNumber> rows, std::span<const RowNumber> columns,
                                std::span<Real* const> out, Team& team, Monitor& monitor) {
    const Points<Real> many = columns.empty() ? points_ : points_.some(columns);
    with_table(points_, many, rows.size(), [&](auto& table) { fill(table, rows, many, out, team, monitor); });
}

template <class Real>
bool PointKernel<Real>::accumulate(std::span<const RowNumber> rows, std::span<const double> steps,
                                   std::span<const RowNumber> columns, double* sums, Team& team,
                                   Monitor& monitor) {
    const Points<Real> many = columns.empty() ? points_ : points_.some(columns);
    with_table(points_, many, rows.size(), [&]<class T>(T& table) {
        for (std::size_t k = 0; k < rows.size(); k += T::width) {
            const std::size_t count = std::min(T::width, rows.size() - k);
            table.fill(points_, rows.subspan(k, count));
            alignas(64) double own[T::width] = {};
            std::copy_n(steps.begin() + static_cast<std::ptrdiff_t>(k), count, own);
            in_stretches(many.n, stretch, mean_entries() * T::width / T::lane, team, monitor,
                         [&](std::size_t first, std::size_t last) {
                             table.against(kernel_, many, squares_.data(), first, last,
                                           [&](std::size_t i, const Real* values) {
                                               double sum = 0;
#pragma omp simd reduction(+ : sum)
                                               for (std::size_t r = 0; r < T::width; ++r)
                                                   sum += own[r] * static_cast<double>(values[r]);
                                               sums[i] += sum;
                                           });
                         });
        }
    });
    return true;
}

template <class Real>
bool PointKernel<Real>::has_whole_numbers() const {
    for (std::size_t i = 0; i < points_.n; ++i) {
        bool all = true;
        points_.for_each(i, [&](std::size_t, Real value) { all &= value == std::nearbyint(value); });
        if (!all) return false;
    }
    return true;
}

/// Where a row has many entries, its products are added up by spans of columns that have as many as a
/// partial sum should; how many terms follow one another then.
template <class Real>
double PointKernel<Real>::cut_rows(double longest) {
    const double d = static_cast<double>(points_.n_features);
    points_.span = std::max<std::size_t>(static_cast<std::size_t>(d * chain / longest), 1);
    double most = 0;
    for (std::size_t i = 0; i < points_.n; ++i) {
        double own = 0, parts = 0;
        std::size_t last = SIZE_MAX;
        points_.for_each(i, [&](std::size_t j, Real) {
            const std::size_t part = j / points_.span;
            own = part == last ? own + 1 : 1;
            parts += part != last;
            last = part;
            most = std::max(most, own);
        });
        most = std::max(most, parts);
    }
    return 2 * most;
}

template <class Real>
std::size_t PointKernel<Real>::mean_entries() const {
    return points_.sparse() ? 1 + static_cast<std::size_t>(points_.starts[points_.n]) / points_.n
                            : points_.n_features;
}

template <class Real>
template <class T>
void PointKernel<Real>::fill(T& table, std::span<const RowNumber> rows, const Points<Real>& many,
                             std::span<Real* const> out, Team& team, Monitor& monitor) {
    constexpr std::size_t lines = T::width / T::lane;
    const std::size_t entries = mean_entries();
    for (std::size_t k = 0; k < rows.size(); k += T::width) {
        const std::size_t count = std::min(T::width, rows.size() - k);
        table.fill(points_, rows.subspan(k, count));
        in_stretches(
            many.n, stretch, entries * lines, team, monitor, [&](std::size_t first, std::size_t last) {
                alignas(64) Real values[stretch][T::width];
                table.against(
                    kernel_, many, squares_.data(), first, last,
                    [&](std::size_t i, const Real* own) { std::copy_n(own, T::width, values[i - first]); });
                const std::size_t squares_i = (last - first) / T::lane, squares_r = count / T::lane;
                for (std::size_t r = 0; r < squares_r; ++r)
                    for (std::size_t i = 0; i < squares_i; ++i)
                        transpose_square(&values[i * T::lane][r * T::lane], lines, &out[k + r * T::lane],
                                         first + i * T::lane);
                for (std::size_t r = 0; r < count; ++r)
                    for (std::size_t i = r < squares_r * T::lane ? squares_i * T::lane : 0; i < last - first;
                         ++i)
                        out[k + r][first + i] = values[i][r];
            });
    }
}

template <class Real>
void add_decisions(const Kernel& kernel, Points<Real> few, std::span<const double> coef, std::size_t n_out,
                   Points<Real> many, double* out, Team& team, Monitor& monitor) {
    std::vector<Real> squares(many.n);
    team.run_ranges(many.n, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) squares[i] = static_cast<Real>(many.squared_norm(i));
    });
    std::vector<RowNumber> rows(few.n);
    std::iota(rows.begin(), rows.end(), RowNumber{0});
    const ByteRows few_bytes = ByteRows::of(few, team), many_bytes = ByteRows::of(many, team);
    if (!few_bytes.empty() && !many_bytes.empty()) {
        few.bytes = &few_bytes;
        many.bytes = &many_bytes;
    }
    with_table(few, many, few.n, [&]<class T>(T& table) {
        AlignedVector<Real> weights(n_out * T::width);  // of the table's examples, output by output
        for (std::size_t j = 0; j < few.n; j += T::width) {
            const std::size_t count = std::min(T::width, few.n - j);
            table.fill(few, std::span<const RowNumber>(rows).subspan(j, count));
            std::fill(weights.begin(), weights.end(), Real{0});
            for (std::size_t r = 0; r < count; ++r)
                for (std::size_t k = 0; k < n_out; ++k)
                    weights[k * T::width + r] = static_cast<Real>(coef[(j + r) * n_out + k]);
            in_stretches(many.n, stretch, T::width * n_out, team, monitor,
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

template class PointKernel<float>;
template class PointKernel<double>;
template void add_decisions(const Kernel&, Points<float>, std::span<const double>, std::size_t, Points<float>,
                            double*, Team&, Monitor&);
template void add_decisions(const Kernel&, Points<double>, std::span<const double>, std::size_t,
                            Points<double>, double*, Team&, Monitor&);

}  // namespace pegasos
