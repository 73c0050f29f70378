#include "kernel/exact_sums.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/rounding.hpp"
#include "kernel/point_kernel.hpp"

namespace pegasos {
namespace {

double sum_of_sizes(std::span<const double> coef) {
    double sum = 0;
    for (const double c : coef) sum += std::abs(c);
    return sum * (1 + 1e-10);
}

/// Of examples in the precision they were given in, less a shift where one is given.
template <class Given>
class PointSums final : public ExactSums {
public:
    /// `compensated`: in twice the precision; of linear and polynomial kernels.
    PointSums(const Points<Given>& points, const Kernel& kernel, std::vector<double> shift, bool compensated)
        : points_(points), kernel_(kernel), shift_(std::move(shift)), compensated_(compensated) {
        if (!shift_.empty() && shift_.size() != points.n_features)
            throw std::invalid_argument("a shift for each feature");
        if (compensated && kernel.kind != Kernel::Kind::linear && kernel.kind != Kernel::Kind::poly)
            throw std::invalid_argument("twice the precision is for linear and polynomial kernels");
    }

    SumError compute(std::span<const RowNumber> all, std::span<const double> coef, double* sums, Team& team,
                     Monitor& monitor) override {
        if (compensated_)
            return kernel_.kind == Kernel::Kind::linear ? by_weights(all, coef, sums, team, monitor)
                                                        : by_pairs(all, coef, sums, team, monitor);
        Copy copy(points_, all, kernel_.differences ? std::vector<double>() : shift_, kernel_.differences);
        const bool shifted = !shift_.empty() && !kernel_.differences;
        PointKernel<double> source(copy.points, kernel_, team, shifted ? unit : 0);
        std::fill_n(sums, all.size(), 0.0);
        source.accumulate_square(coef, sums, team, monitor);
        std::vector<RowNumber> rows(coef.size()), others(all.size() - coef.size());
        std::iota(rows.begin(), rows.end(), RowNumber{0});
        std::iota(others.begin(), others.end(), static_cast<RowNumber>(coef.size()));
        if (!others.empty() && !rows.empty())
            source.accumulate(rows, coef, others, sums + coef.size(), team, monitor);
        const double terms = static_cast<double>(coef.size()) + 64, size = sum_of_sizes(coef);
        return {size * (source.error() + terms * unit * source.largest()), 0};
    }

private:
    /// Some of the examples, in double precision.
    struct Copy {
        std::vector<double> values;
        std::vector<std::int32_t> columns;
        std::vector<std::int64_t> starts;
        Points<double> points{};

        /// Dense examples, most of whose entries are zero, are copied as sparse ones, unless `dense`: a
        /// product of zeros costs as much as any other.
        Copy(const Points<Given>& from, std::span<const RowNumber> which, const std::vector<double>& shift,
             bool dense = false) {
            std::size_t total = 0, filled = 0;
            for (const RowNumber i : which) {
                total += from.entries(i);
                if (!from.sparse()) from.for_each(i, [&](std::size_t, Given value) { filled += value != 0; });
            }
            const bool skips = !from.sparse() && !dense && shift.empty() && 2 * filled <= total;
            const bool sparse = from.sparse() || skips;
            values.reserve(skips ? filled : total);
            if (sparse) {
                columns.reserve(skips ? filled : total);
                starts.push_back(0);
            }
            for (const RowNumber i : which) {
                from.for_each(i, [&](std::size_t j, Given value) {
                    if (skips && value == 0) return;
                    const double x = static_cast<double>(value);
                    values.push_back(shift.empty() ? x : x - shift[j]);
                    if (sparse) columns.push_back(static_cast<std::int32_t>(j));
                });
                if (sparse) starts.push_back(static_cast<std::int64_t>(values.size()));
            }
            points = {which.size(), from.n_features, values.data(), sparse ? columns.data() : nullptr,
                      sparse ? starts.data() : nullptr};
        }
    };

    /// Of the linear kernel: w = sum_j c_j x_j, and <w, x_i - shift>. Where the coefficients sum to zero, as
    /// they do where there is a shift, w is that of the shifted examples as well.
    SumError by_weights(std::span<const RowNumber> all, std::span<const double> coef, double* sums,
                        Team& team, Monitor& monitor) {
        std::vector<Double2> w(points_.n_features);
        double longest = 0, entries = 0;
        for (std::size_t k = 0; k < all.size(); ++k) {
            points_.for_each(all[k], [&](std::size_t j, Given value) {
                if (k < coef.size()) w[j] = w[j] + exact_product(coef[k], static_cast<double>(value));
            });
            longest = std::max(longest, points_.squared_norm(all[k]));
            entries = std::max(entries, static_cast<double>(points_.entries(all[k])));
            monitor.worked(points_.entries(all[k]));
        }
        Double2 along;  // -<w, shift>
        for (std::size_t j = 0; j < shift_.size(); ++j) along = along + w[j] * Double2{-shift_[j]};
        team.run_ranges(all.size(), [&](std::size_t thread, std::size_t first, std::size_t last) {
            for (std::size_t k = first; k < last && !team.failed(); ++k) {
                Double2 sum = along;
                points_.for_each(all[k], [&](std::size_t j, Given value) {
                    sum = sum + w[j] * Double2{static_cast<double>(value)};
                });
                sums[k] = sum.value();
                if (thread == 0) monitor.worked(points_.entries(all[k]));
            }
        });
        const double terms = static_cast<double>(coef.size()) + entries + 16;
        return {16 * terms * unit * unit * sum_of_sizes(coef) * 2 * longest, 2 * unit};
    }

    SumError by_pairs(std::span<const RowNumber> all, std::span<const double> coef, double* sums, Team& team,
                      Monitor& monitor) {
        const Copy copy(points_, all, {});
        const std::size_t d = points_.n_features;
        double longest = 0, entries = 0;
        for (std::size_t k = 0; k < all.size(); ++k) {
            longest = std::max(longest, copy.points.squared_norm(k));
            entries = std::max(entries, static_cast<double>(copy.points.entries(k)));
        }
        team.run_ranges(all.size(), [&](std::size_t thread, std::size_t first, std::size_t last) {
            std::vector<double> spread(d);
            for (std::size_t k = first; k < last && !team.failed(); ++k) {
                copy.points.for_each(k, [&](std::size_t j, double value) { spread[j] = value; });
                Double2 sum;
                for (std::size_t j = 0; j < coef.size(); ++j) {
                    Double2 product, power;
                    copy.points.for_each(j, [&](std::size_t at, double value) {
                        product = product + exact_product(spread[at], value);
                    });
                    product = product * Double2{kernel_.gamma} + Double2{kernel_.coef0};
                    raise<1>(&product, &power, kernel_.degree);
                    sum = sum + power * Double2{coef[j]};
                    if (thread == 0) monitor.worked(copy.points.entries(j));
                }
                sums[k] = sum.value();
                copy.points.for_each(k, [&](std::size_t j, double) { spread[j] = 0; });
            }
        });
        const double base = kernel_.gamma * longest * (1 + 1e-6) + std::abs(kernel_.coef0);
        const double terms = static_cast<double>(coef.size()) + kernel_.degree * (entries + 8) + 16;
        const double size = sum_of_sizes(coef);
        return {
            16 * terms * unit * unit * size * std::pow(base, kernel_.degree) + terms * lost_products(size),
            2 * unit};
    }

    const Points<Given> points_;
    const Kernel kernel_;
    const std::vector<double> shift_;
    const bool compensated_;
};

/// Of a matrix that is there, whose numbers are the kernel.
template <class Given>
class GivenSums final : public ExactSums {
public:
    GivenSums(const Given* values, std::size_t n) : values_(values), n_(n) {}

    SumError compute(std::span<const RowNumber> all, std::span<const double> coef, double* sums, Team& team,
                     Monitor& monitor) override {
        std::vector<double> largest(team.size());
        team.run_ranges(all.size(), [&](std::size_t thread, std::size_t first, std::size_t last) {
            for (std::size_t k = first; k < last && !team.failed(); ++k) {
                Double2 sum;
                for (std::size_t j = 0; j < coef.size(); ++j) {
                    const double value = static_cast<double>(values_[all[k] * n_ + all[j]]);
                    largest[thread] = std::max(largest[thread], std::abs(value));
                    sum = sum + exact_product(coef[j], value);
                }
                sums[k] = sum.value();
                if (thread == 0) monitor.worked(coef.size());
            }
        });
        const double most = *std::max_element(largest.begin(), largest.end());
        const double terms = static_cast<double>(coef.size()) + 16;
        return {16 * terms * unit * unit * sum_of_sizes(coef) * most, 2 * unit};
    }

private:
    const Given* values_;
    const std::size_t n_;
};

}  // namespace

template <class Given>
std::unique_ptr<ExactSums> sums_of_points(const Points<Given>& points, const Kernel& kernel,
                                          std::vector<double> shift, bool compensated) {
    return std::make_unique<PointSums<Given>>(points, kernel, std::move(shift), compensated);
}

template <class Given>
std::unique_ptr<ExactSums> sums_of_matrix(const Given* values, std::size_t n) {
    return std::make_unique<GivenSums<Given>>(values, n);
}

template std::unique_ptr<ExactSums> sums_of_points(const Points<float>&, const Kernel&, std::vector<double>,
                                                   bool);
template std::unique_ptr<ExactSums> sums_of_points(const Points<double>&, const Kernel&, std::vector<double>,
                                                   bool);
template std::unique_ptr<ExactSums> sums_of_matrix(const float*, std::size_t);
template std::unique_ptr<ExactSums> sums_of_matrix(const double*, std::size_t);

}  // namespace pegasos
