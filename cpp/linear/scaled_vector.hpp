// w = a * v with its norm (S0 section 2.4), so that shrinking and projecting cost O(1) and adding a row O(its
// entries).
//
// On request it also keeps the sum of the iterates, W_t = w_1 + ... + w_t, at the same cost, as W = A * v + u
// with A = a_1 + ... + a_t. Adding delta to v would change A * v by A * delta, so u takes that back:
//     v <- v + delta,  u <- u - A * delta.
// A * v and u cancel more and more as a shrinks below the scales summed in A, so A * v is moved to u in time.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace pegasos {

class ScaledVector {
public:
    explicit ScaledVector(std::size_t size, bool sums = false) : v_(size), u_(sums ? size : 0) {}

    void assign(const std::vector<double>& w) {
        v_ = w;
        a_ = 1;
        refresh_norm();
    }

    /// The sum of the iterates before; `assign` comes first.
    void assign_sum(const std::vector<double>& sum) {
        u_ = sum;
        sum_of_scales_ = 0;
    }

    std::size_t size() const { return v_.size(); }
    double squared_norm() const { return norm2_; }

    template <class Rows>
    double dot(const Rows& rows, std::size_t i) const {
        return a_ * rows.dot(i, v_.data());
    }

    /// w <- factor * w
    void scale(double factor) {
        a_ *= factor;
        norm2_ *= factor * factor;
        error_ *= factor * factor;
        if (std::abs(a_) < (u_.empty() ? smallest : smallest_summed)) rebase();
    }

    /// w <- w + c * row i; returns the squared norm of the row.
    template <class Rows>
    double add(const Rows& rows, std::size_t i, double c) {
        const double step = c / a_;
        const auto [dot, square] = rows.add_tracked(i, step, v_.data());
        if (!u_.empty()) rows.add(i, -sum_of_scales_ * step, u_.data());
        const double cross = 2 * c * a_ * dot, own = c * c * square;
        norm2_ += cross + own;
        // The tracked norm is a sum of signed terms; after cancellation its rounding error can outweigh what
        // is left. A bound on that error is tracked too, and the norm computed afresh once it matters (hardly
        // ever).
        error_ += 4 * epsilon * (std::abs(cross) + own + std::abs(norm2_));
        if (error_ > 1e-9 * norm2_) refresh_norm();
        return square;
    }

    /// w <- min(1, radius / ||w||) w
    void project(double radius) {
        if (norm2_ > radius * radius) scale(radius / std::sqrt(norm2_));
    }

    /// Adds the present w to the sum of iterates.
    void accumulate() { sum_of_scales_ += a_; }

    std::vector<double> value() const {
        std::vector<double> w(v_.size());
        for (std::size_t j = 0; j < w.size(); ++j) w[j] = a_ * v_[j];
        return w;
    }

    std::vector<double> sum_of_iterates() const {
        std::vector<double> sum(v_.size());
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] = sum_of_scales_ * v_[j] + u_[j];
        return sum;
    }

private:
    static constexpr double epsilon = std::numeric_limits<double>::epsilon();
    static constexpr double smallest = 1e-100;       // far below, so that the O(size) rebase is rare
    static constexpr double smallest_summed = 1e-4;  // the sum of iterates loses four digits, no more

    void refresh_norm() {
        double sum = 0;
        for (const double x : v_) sum += x * x;
        norm2_ = a_ * a_ * sum;
        error_ = epsilon * norm2_;
    }

    // Makes a = 1 again, and A = 0. The scale may be exactly zero (the first step of Pegasos): v becomes
    // zero.
    void rebase() {
        for (std::size_t j = 0; j < u_.size(); ++j) u_[j] += sum_of_scales_ * v_[j];
        for (double& x : v_) x *= a_;
        sum_of_scales_ = 0;
        a_ = 1;
        refresh_norm();
    }

    std::vector<double> v_, u_;
    double a_ = 1, norm2_ = 0, error_ = 0, sum_of_scales_ = 0;
};

}  // namespace pegasos
