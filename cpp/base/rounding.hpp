// What rounding may do to the sums of a pass over the rows, and sums that hardly round.
//
// u = 2^-53 is the largest relative error of an operation. k products summed in any order, with or without
// fused multiplication and addition, are off by at most 1.01 k u sum |terms| (k u < 0.01). Cauchy and Schwarz
// make of it 1.01 k u ||w|| ||x|| for a score <w, x>, whatever cancels in it.
//
// A vector that rows are added to, S_k = S_{k-1} + c_k x_k, is rounded once at each addition, by at most u
// ||S_k|| in norm, and ||S_k|| <= sum_{i <= k} |c_i| ||x_i||. So `RowSum` adds up these sums.
//
// What is not enough for a tolerance is computed again in twice the precision, a high part and a low one,
// whose operations are off by a few u^2: it leaves little but the rounding of the results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace pegasos {

inline constexpr double unit = 0x1p-53;

/// A value that allows for the rounding of its own computation; `rounding` is that part of it.
struct Bound {
    double value = 0, rounding = 0;
};

/// At least the norm of so many entries, from its square: of entries below 1e-150 that may have lost all.
inline double norm_above(double square, std::size_t entries) {
    return std::sqrt(square + 1e-300 * static_cast<double>(entries));
}

/// A number in twice double precision, high + low.
struct Double2 {
    double high = 0, low = 0;

    double value() const { return high + low; }
    bool operator>(const Double2& other) const {
        return high > other.high || (high == other.high && low > other.low);
    }
};

/// a + b, exactly (Knuth).
inline Double2 exact_sum(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

/// a b, exactly. The compiler must not fuse the product with a sum it is used in: volatile.
inline Double2 exact_product(double a, double b) {
    const volatile double product = a * b;
    return {product, std::fma(a, b, -product)};
}

inline Double2 operator+(const Double2& a, const Double2& b) {
    const Double2 sum = exact_sum(a.high, b.high);
    return exact_sum(sum.high, sum.low + (a.low + b.low));
}

inline Double2 operator*(const Double2& a, const Double2& b) {
    const Double2 product = exact_product(a.high, b.high);
    return exact_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

inline Double2 operator/(const Double2& a, const Double2& b) {
    const double first = a.high / b.high;
    const Double2 left = a + Double2{-first} * b;
    return exact_sum(first, left.value() / b.high);
}

/// What the weights of a stored model, w times powers of two or w rescaled, may be off by, relative to w.
template <class Rows>
double stored_error(const Rows& rows) {
    int exponent;
    const bool exact = rows.bias == 0 || std::frexp(rows.bias, &exponent) == 0.5;
    return rows.rescaled || !exact ? 4 * unit : 0;
}

/// A score <w, x_i> of a stored model, and how far it may be off.
struct Score {
    double value, error;
};

/// `norms` is ||w|| ||x_i||. Of the 8, two units are the model's, one is the constant feature's, and the rest
/// that of the norms.
template <class Rows>
[[gnu::always_inline]] inline Score plain_score(const Rows& rows, std::size_t i, const double* w,
                                                double norms) {
    const double entries = static_cast<double>(rows.entries(i));
    return {rows.dot(i, w), (1.01 * entries + 8) * unit * norms};
}

template <class Rows>
[[gnu::noinline]] Score careful_score(const Rows& rows, std::size_t i, const double* w, double norms) {
    Double2 sum;
    rows.for_each(i, [&](std::size_t j, double x) { sum = sum + exact_product(x, w[j]); });
    const double value = sum.value(), entries = static_cast<double>(rows.entries(i));
    return {value,
            2 * unit * std::abs(value) + (stored_error(rows) + 16 * unit * unit * (entries + 8)) * norms};
}

/// v += C s q x_i in twice double precision.
template <class Rows>
[[gnu::noinline]] void careful_add(const Rows& rows, std::size_t i, double C, double s, double q,
                                   double* high, double* low) {
    const Double2 c = exact_product(C, s) * Double2{q};
    rows.for_each(i, [&](std::size_t j, double x) {
        const Double2 sum = Double2{high[j], low[j]} + c * Double2{x};
        high[j] = sum.high;
        low[j] = sum.low;
    });
}

/// A sum of rows, on request in twice double precision, and how far it may be off in norm.
class RowSum {
public:
    RowSum() = default;
    RowSum(std::size_t size, bool careful) : high_(size), low_(careful ? size : 0) {}

    /// Adds C s q x_i, ||x_i|| being at most `norm`.
    template <class Rows>
    [[gnu::always_inline]] void add(const Rows& rows, std::size_t i, double C, double s, double q,
                                    double norm) {
        const double c = C * s * q;
        reach_ += std::abs(c) * norm;
        spread_ += reach_;
        if (low_.empty())
            rows.add(i, c, high_.data());
        else
            careful_add(rows, i, C, s, q, high_.data(), low_.data());
    }

    /// This <- a this + b other.
    void combine(const Double2& a, const RowSum& other, const Double2& b) {
        const double plain_a = a.value(), plain_b = b.value();
        reach_ = plain_a * reach_ + plain_b * other.reach_;
        spread_ = plain_a * spread_ + plain_b * other.spread_ + reach_;
        if (low_.empty())
            for (std::size_t j = 0; j < high_.size(); ++j)
                high_[j] = plain_a * high_[j] + plain_b * other.high_[j];
        else
            for (std::size_t j = 0; j < high_.size(); ++j) {
                const Double2 sum =
                    a * Double2{high_[j], low_[j]} + b * Double2{other.high_[j], other.low_[j]};
                high_[j] = sum.high;
                low_[j] = sum.low;
            }
    }

    const std::vector<double>& high() const { return high_; }

    /// What its norm may be off by, but for that of `take` where it is careful. 32: factors and products,
    /// and the factors of combinations, which are quotients of sums.
    double error() const { return 1.01 * unit * (low_.empty() ? 1 : 16 * unit) * (spread_ + 32 * reach_); }

    /// What rounding of the rows themselves, columns divided by their sizes, may do to its norm; where the
    /// sum is not careful `error` has it.
    double rows_error() const { return 2 * unit * reach_; }

    /// The sum, rounded to double precision.
    std::vector<double> take() {
        for (std::size_t j = 0; j < low_.size(); ++j) high_[j] += low_[j];
        return std::move(high_);
    }

private:
    std::vector<double> high_, low_;
    double reach_ = 0, spread_ = 0;  // sum |c| ||x||, and the sum of its values after each addition
};

}  // namespace pegasos
