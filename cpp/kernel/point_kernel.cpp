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

namespace {

template <class Real>
std::vector<Real> squares_of(const Points<Real>& points, Team& team) {
    std::vector<Real> squares(points.n);
    team.run_ranges(points.n, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) squares[i] = static_cast<Real>(points.squared_norm(i));
    });
    return squares;
}

std::vector<RowNumber> numbers_to(std::size_t n) {
    std::vector<RowNumber> rows(n);
    std::iota(rows.begin(), rows.end(), RowNumber{0});
    return rows;
}

}  // namespace

template <class Real>
SupportVectors<Real>::SupportVectors(const Points<Real>& points, const Kernel& kernel, Team& team)
    : bytes_(kernel.differences ? ByteRows{} : ByteRows::of(points, team)),
      points_(points),
      kernel_(kernel),
      squares_(squares_of(points, team)) {}

template <class Real>
void SupportVectors<Real>::add_decisions(const SupportWeights& weights, Points<Real> rows, double* out,
                                         Team& team, Monitor& monitor) const {
    const ByteRows bytes = bytes_.empty() ? ByteRows{} : ByteRows::of(rows, team);
    if (!bytes.empty()) rows.bytes = &bytes;
    // Whichever are fewer go into tables: to fill these takes time.
    if (rows.n < points_.n)
        add_of_few(weights, rows, out, team, monitor);
    else
        add_of_many(weights, rows, out, team, monitor);
}

/// The examples that decisions are made of are in the table.
template <class Real>
void SupportVectors<Real>::add_of_many(const SupportWeights& weights, const Points<Real>& rows, double* out,
                                       Team& team, Monitor& monitor) const {
    const std::vector<Real> squares = squares_of(rows, team);
    const std::vector<RowNumber> numbers = numbers_to(points_.n);
    Points<Real> own = points_;
    if (rows.bytes) own.bytes = &bytes_;
    const std::size_t n_out = weights.n_out, n_all = n_out * weights.ends.size();
    with_table(own, rows, own.n, [&]<class T>(T& table) {
        // Of the table's examples, sum by sum; in double precision, as the sums of few rows are.
        AlignedVector<double> w(n_out * T::width);
        for (std::size_t g = 0, j = 0; g < weights.ends.size(); ++g) {
            for (std::size_t count; j < weights.ends[g]; j += count) {
                count = std::min(T::width, weights.ends[g] - j);
                table.fill(own, std::span<const RowNumber>(numbers).subspan(j, count));
                std::fill(w.begin(), w.end(), 0.0);
                for (std::size_t k = 0; k < n_out; ++k)
                    for (std::size_t r = 0; r < count; ++r) w[k * T::width + r] = weights.of(k, j + r);
                in_stretches(rows.n, stretch, T::width * n_out, team, monitor,
                             [&](std::size_t first, std::size_t last) {
                                 table.against(kernel_, rows, squares.data(), first, last,
                                               [&](std::size_t i, const Real* values) {
                                                   double* sums = out + i * n_all + g * n_out;
                                                   for (std::size_t k = 0; k < n_out; ++k) {
                                                       const double* of = &w[k * T::width];
                                                       double sum = 0;
#pragma omp simd reduction(+ : sum)
                                                       for (std::size_t r = 0; r < T::width; ++r)
                                                           sum += static_cast<double>(values[r]) * of[r];
                                                       sums[k] += sum;
                                                   }
                                               });
                             });
            }
        }
    });
}

/// The rows are in the table; the others pass by, in parts that have sums of their own.
template <class Real>
void SupportVectors<Real>::add_of_few(const SupportWeights& weights, const Points<Real>& rows, double* out,
                                      Team& team, Monitor& monitor) const {
    constexpr std::size_t part = 8 * stretch;
    const std::size_t n = points_.n, n_parts = (n + part - 1) / part;
    const std::vector<RowNumber> numbers = numbers_to(rows.n);
    Points<Real> own = points_;
    if (rows.bytes) own.bytes = &bytes_;
    const std::size_t n_out = weights.n_out, n_all = n_out * weights.ends.size();
    with_table(rows, own, rows.n, [&]<class T>(T& table) {
        AlignedVector<double> sums(n_parts * n_all * T::width);
        for (std::size_t i = 0; i < rows.n; i += T::width) {
            const std::size_t count = std::min(T::width, rows.n - i);
            table.fill(rows, std::span<const RowNumber>(numbers).subspan(i, count));
            std::fill(sums.begin(), sums.end(), 0.0);
            in_stretches(n_parts, 1, part * T::width, team, monitor, [&](std::size_t p, std::size_t) {
                double* to = &sums[p * n_all * T::width];
                std::size_t g = 0;
                table.against(kernel_, own, squares_.data(), p * part, std::min((p + 1) * part, n),
                              [&](std::size_t j, const Real* values) {
                                  while (j >= weights.ends[g]) ++g;
                                  for (std::size_t k = 0; k < n_out; ++k) {
                                      const double c = weights.of(k, j);
                                      double* sum = to + (g * n_out + k) * T::width;
#pragma omp simd
                                      for (std::size_t r = 0; r < T::width; ++r)
                                          sum[r] += c * static_cast<double>(values[r]);
                                  }
                              });
            });
            for (std::size_t p = 0; p < n_parts; ++p)
                for (std::size_t k = 0; k < n_all; ++k)
                    for (std::size_t r = 0; r < count; ++r)
                        out[(i + r) * n_all + k] += sums[(p * n_all + k) * T::width + r];
        }
    });
}

template class PointKernel<float>;
template class PointKernel<double>;
template class SupportVectors<float>;
template class SupportVectors<double>;

}  // namespace pegasos
