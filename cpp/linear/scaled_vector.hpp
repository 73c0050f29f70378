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

#include "base/aligned.hpp"
#include "base/rounding.hpp"
#include "base/state.hpp"

namespace pegasos {

/// What w has whatever v and u are, which `Store` says: vectors, or matrices with their entries in
/// `values()`. The norm is kept where it is `tracked`.
template <class Store>
class Scaled {
public:
    std::size_t size() const { return numbers_of(v_).size(); }
    double squared_norm() const { return norm2_; }
    double exact_squared_norm() const {
        Sum sum;
        for (const double x : numbers_of(v_)) sum.add(x * x);
        return a_ * a_ * sum.value();
    }

    /// w <- factor * w
    void scale(double factor) {
        a_ *= factor;
        norm2_ *= factor * factor;
        error_ *= factor * factor;
        if (std::abs(a_) < (numbers_of(u_).empty() ? smallest : smallest_summed)) rebase();
    }

    /// w <- min(1, radius / ||w||) w; returns the factor.
    double project(double radius) {
        if (!(norm2_ > radius * radius)) return 1;
        const double factor = radius / std::sqrt(norm2_);
        scale(factor);
        return factor;
    }

    /// Adds the present w to the sum of iterates.
    void accumulate() { sum_of_scales_ += a_; }

    std::vector<double> value() const {
        std::vector<double> w(numbers_of(v_).begin(), numbers_of(v_).end());
        for (double& x : w) x *= a_;
        return w;
    }

    std::vector<double> sum_of_iterates() const {
        std::vector<double> sum(size());
        for (std::size_t j = 0; j < sum.size(); ++j)
            sum[j] = sum_of_scales_ * numbers_of(v_)[j] + numbers_of(u_)[j];
        return sum;
    }

    void state(State& state) {
        state.array(numbers_of(v_).data(), numbers_of(v_).size());
        state.array(numbers_of(u_).data(), numbers_of(u_).size());
        state(a_, sum_of_scales_, norm2_, error_);
    }

protected:
    Scaled(Store v, Store u, bool tracked) : v_(std::move(v)), u_(std::move(u)), tracked_(tracked) {}

    /// The norm after w <- w + c x, which adds 2 c <w, x> and c^2 ||x||^2 to its square. As a sum of signed
    /// terms it may lose more to cancellation than is left of it. A bound on that error is kept too, and the
    /// norm computed afresh once it matters (hardly ever).
    void track(double cross, double own) {
        norm2_ += cross + own;
        error_ += 4 * epsilon * (std::abs(cross) + own + std::abs(norm2_));
        if (error_ > 1e-9 * norm2_) refresh_norm();
    }

    /// v was set: w is v.
    void restart() {
        a_ = 1;
        refresh_norm();
    }

    Store v_, u_;
    bool tracked_;
    double a_ = 1, sum_of_scales_ = 0;

private:
    static constexpr double epsilon = std::numeric_limits<double>::epsilon();
    static constexpr double smallest = 1e-100;       // far below, so that the O(size) rebase is rare
    static constexpr double smallest_summed = 1e-4;  // the sum of iterates loses four digits, no more

    void refresh_norm() {
        if (!tracked_) return;
        double sum = 0;
        for (const double x : numbers_of(v_)) sum += x * x;
        norm2_ = a_ * a_ * sum;
        error_ = epsilon * norm2_;
    }

    // Makes a = 1 again, and A = 0. The scale may be exactly zero (the first step of Pegasos): v becomes
    // zero.
    void rebase() {
        for (std::size_t j = 0; j < numbers_of(u_).size(); ++j)
            numbers_of(u_)[j] += sum_of_scales_ * numbers_of(v_)[j];
        for (double& x : numbers_of(v_)) x *= a_;
        sum_of_scales_ = 0;
        restart();
    }

    double norm2_ = 0, error_ = 0;
};

class ScaledVector : public Scaled<std::vector<double>> {
public:
    explicit ScaledVector(std::size_t size, bool sums = false)
        : Scaled(std::vector<double>(size), std::vector<double>(sums ? size : 0), true) {}

    void assign(const std::vector<double>& w) {
        v_ = w;
        restart();
    }

    /// The sum of the iterates before; `assign` comes first.
    void assign_sum(const std::vector<double>& sum) {
        u_ = sum;
        sum_of_scales_ = 0;
    }

    template <class Rows>
    double dot(const Rows& rows, std::size_t i) const {
        return a_ * rows.dot(i, v_.data());
    }

    /// w <- w + c * row i; returns the squared norm of the row.
    template <class Rows>
    double add(const Rows& rows, std::size_t i, double c) {
        const double step = c / a_;
        const auto [dot, square] = rows.add_tracked(i, step, v_.data());
        if (!u_.empty()) rows.add(i, -sum_of_scales_ * step, u_.data());
        track(2 * c * a_ * dot, c * c * square);
        return square;
    }
};

}  // namespace pegasos
