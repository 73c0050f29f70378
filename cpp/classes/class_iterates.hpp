// The iterates of a sub-gradient solver whose weights are a matrix with a column for each class: scaled,
// summed, with the outputs and the times of checks of subgradient.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "base/suffix.hpp"
#include "classes/class_matrix.hpp"

namespace pegasos {

struct IterateOptions {
    std::uint64_t batch = 1;
    bool project = false;
    Output output = Output::last;
    std::uint64_t max_steps = 1;
    double tol = 0;
};

/// W = a V, its norm where it is `tracked`, and where it `sums` the sum of iterates A V + U.
class ScaledClasses {
public:
    ScaledClasses(std::size_t n_rows, std::size_t n_classes, bool tracked, bool sums)
        : V_(n_rows, n_classes), U_(sums ? n_rows : 0, n_classes), tracked_(tracked), f_(V_.stride()) {}

    void assign(const std::vector<double>& flat) {
        V_.assign(flat);
        a_ = 1;
        refresh_norm();
    }

    template <class Rows>
    void scores(const Rows& rows, std::size_t i, double* f) const {
        V_.scores(rows, i, f);
        for (std::size_t k = 0; k < V_.stride(); ++k) f[k] *= a_;
    }

    void scale(double factor) {
        a_ *= factor;
        norm2_ *= factor * factor;
        error_ *= factor * factor;
        if (std::abs(a_) < (U_.values().empty() ? smallest : smallest_summed)) rebase();
    }

    /// W <- W + c x_i' d
    template <class Rows>
    void add(const Rows& rows, std::size_t i, double c, const double* d) {
        if (tracked_) {
            scores(rows, i, f_.data());
            double along = 0, square = 0;
            for (std::size_t k = 0; k < V_.stride(); ++k) {
                along += f_[k] * d[k];
                square += d[k] * d[k];
            }
            const double cross = 2 * c * along, own = c * c * square * rows.squared_norm(i);
            norm2_ += cross + own;
            error_ += 4 * epsilon * (std::abs(cross) + own + std::abs(norm2_));
        }
        V_.add_nonzero(rows, i, c / a_, d);
        if (!U_.values().empty()) U_.add_nonzero(rows, i, -sum_of_scales_ * c / a_, d);
        if (error_ > 1e-9 * norm2_) refresh_norm();
    }

    /// W <- min(1, radius / ||W||) W; returns the factor.
    double project(double radius) {
        if (!(norm2_ > radius * radius)) return 1;
        const double factor = radius / std::sqrt(norm2_);
        scale(factor);
        return factor;
    }

    std::size_t size() const { return V_.values().size(); }

    double exact_squared_norm() const {
        Sum sum;
        for (const double x : V_.values()) sum.add(x * x);
        return a_ * a_ * sum.value();
    }

    /// Adds the present W to the sum of iterates.
    void accumulate() { sum_of_scales_ += a_; }

    void value(ClassMatrix<double>& out) const {
        for (std::size_t j = 0; j < V_.values().size(); ++j) out.values()[j] = a_ * V_.values()[j];
    }
    /// Padded as the matrix is.
    std::vector<double> sum_of_iterates() const {
        std::vector<double> sum(V_.values().size());
        for (std::size_t j = 0; j < sum.size(); ++j)
            sum[j] = sum_of_scales_ * V_.values()[j] + U_.values()[j];
        return sum;
    }

private:
    static constexpr double epsilon = std::numeric_limits<double>::epsilon();
    static constexpr double smallest = 1e-100, smallest_summed = 1e-4;  // see ScaledVector

    void refresh_norm() {
        if (!tracked_) return;
        double sum = 0;
        for (const double x : V_.values()) sum += x * x;
        norm2_ = a_ * a_ * sum;
        error_ = epsilon * norm2_;
    }

    void rebase() {
        for (std::size_t j = 0; j < U_.values().size(); ++j)
            U_.values()[j] += sum_of_scales_ * V_.values()[j];
        for (double& x : V_.values()) x *= a_;
        sum_of_scales_ = 0;
        a_ = 1;
        refresh_norm();
    }

    ClassMatrix<double> V_, U_;
    bool tracked_;
    AlignedVector<double> f_;
    double a_ = 1, norm2_ = 0, error_ = 0, sum_of_scales_ = 0;
};

/// Makes steps and checks, and knows what to return.
class ClassIterates {
public:
    ClassIterates(std::size_t n_rows, std::size_t n_classes, const IterateOptions& options)
        : options_(options),
          n_rows_(n_rows),
          n_classes_(n_classes),
          W_(n_rows, n_classes, options.project, is_mean(options.output)),
          block_(options.batch * std::max<std::uint64_t>(1, 1024 / options.batch)) {}

    ScaledClasses& W() { return W_; }

    /// Makes the steps of a block of rows, a batch after the other; how many, which is all of them unless the
    /// time is up.
    using Steps = std::function<std::uint64_t(std::span<const RowNumber>)>;

    /// n: the examples of an epoch. `check()` gives the bounds at `out`, which at the end has what to return.
    Solution run(std::size_t n, Sampler& sampler, Context& context, ClassMatrix<double>& out,
                 const Steps& make_steps, const std::function<Bounds()>& check);

private:
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

    double epochs() const { return static_cast<double>(steps_ * options_.batch) / static_cast<double>(n_); }
    std::uint64_t steps_in(std::uint64_t epochs) const {
        return (epochs * n_ + options_.batch - 1) / options_.batch;
    }
    bool advance(std::uint64_t target, Sampler& sampler, Context& context, const Steps& make_steps);
    void output(ClassMatrix<double>& W) const;
    std::uint64_t next_snapshot() const { return is_suffix(options_.output) ? suffix_.next : never; }

    const IterateOptions options_;
    const std::size_t n_rows_, n_classes_;
    ScaledClasses W_;
    std::vector<RowNumber> block_;
    Suffix suffix_;
    std::size_t n_ = 1;
    std::uint64_t steps_ = 0;
};

}  // namespace pegasos
