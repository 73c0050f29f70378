// What rounding may do to the sums of a pass over the rows, and sums that hardly round.
//
// u = 2^-53 is the largest relative error of an operation. k products summed in any order, with or without
// fused multiplication and addition, are off by at most 1.01 k u sum |terms| (k u < 0.01). Cauchy and Schwarz
// make of it 1.01 k u ||w|| ||x|| for a score <w, x>, whatever cancels in it.
//
// A vector that rows are added to, S_k = S_{k-1} + c_k x_k, is rounded once at each addition, by at most u
// ||S_k|| in norm, and ||S_k|| <= sum_{i <= k} |c_i| ||x_i||. So `Reach` adds up these sums.
//
// What is not enough for a tolerance is computed again in twice the precision, a high part and a low one,
// whose operations are off by a few u^2: it leaves little but the rounding of the results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
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

/// Neumaier's compensated sum.
class Sum {
public:
    void add(double x) {
        const double next = sum_ + x;
        lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
        sum_ = next;
    }
    double value() const { return sum_ + lost_; }
    Double2 exactly() const { return exact_sum(sum_, lost_); }

private:
    double sum_ = 0, lost_ = 0;
};

inline double sum(std::span<const double> terms) {
    Sum all;
    for (const double x : terms) all.add(x);
    return all.value();
}

/// The least number above zero.
inline constexpr double least = std::numeric_limits<double>::denorm_min();

/// A part of an upper bound: above zero where it is so in exact arithmetic, even if it underflows.
inline double not_lost(double value, bool is_above_zero) {
    return value == 0 && is_above_zero ? least : value;
}

/// What underflow may take from what a row of weight s adds to a sum, a few products that C multiplies later.
inline double lost_products(double s) { return 16 * least * (1 + s); }

/// Of the first `size` entries; above zero where one of them is not 0.
inline double squared_norm(const std::vector<double>& w, std::size_t size) {
    Sum sum;
    for (std::size_t j = 0; j < size; ++j) sum.add(w[j] * w[j]);
    if (sum.value() != 0) return sum.value();
    return not_lost(0, std::any_of(w.begin(), w.begin() + size, [](double x) { return x != 0; }));
}

inline double squared_norm(const std::vector<double>& w) { return squared_norm(w, w.size()); }

/// What a compensated sum of n terms may be off by, relative to the sum of their sizes, beside a few units.
inline double sum_error(std::size_t n) {
    return static_cast<double>(n) * unit * (static_cast<double>(n) * unit);
}

/// What the weights of a stored model, w times powers of two or w rescaled, may be off by, relative to w.
template <class Rows>
double stored_error(const Rows& rows) {
    int exponent;
    const bool exact = rows.bias == 0 || std::frexp(rows.bias, &exponent) == 0.5;
    return rows.rescaled || !exact ? 4 * unit : 0;
}

/// What underflow may take, in norm, from a row times C s q, which is added to a vector: of its factor, and
/// of each product.
inline double lost_of_row(double norm, double entries, double q) {
    return 2 * least * ((2 + std::abs(q)) * norm + entries);
}

/// What a score <w, x> may be off by, as a share of ||w|| ||x||. Of the 8, two units are the model's, one is
/// the constant feature's, and the rest that of the norms.
inline double score_error(double entries) { return (1.01 * entries + 8) * unit; }

/// The same of a score summed in twice the precision, before it is rounded.
inline double careful_score_error(double entries, double stored) {
    return stored + 16 * unit * unit * (entries + 8);
}

/// How far a sum of vectors, each a row times a number c, may be off in norm.
struct Reach {
    double reach = 0, spread = 0;  // sum |c| ||x||, and the sum of its values after each addition
    double lost = 0;               // to underflow

    /// A term of norm `length` at most was added, which lost no more than that to underflow.
    void add(double length, double lost_of_it) {
        reach += length;
        spread += reach;
        lost += lost_of_it;
    }
    /// The sum became a times itself plus b times another.
    void combine(double a, const Reach& other, double b) {
        reach = a * reach + b * other.reach;
        spread = a * spread + b * other.spread + reach;
        lost = a * lost + b * other.lost;
    }
    /// Each term is off by `own` units itself: factors and products, and the factors of combinations, which
    /// are quotients of sums. A careful sum is rounded once more when it is taken.
    double error(bool careful, double own = 32) const {
        return 1.01 * unit * (careful ? 16 * unit : 1) * (spread + own * reach) + 2 * lost;
    }
    /// What rounding of the rows themselves, columns divided by their sizes, may do to its norm.
    double rows_error() const { return 2 * unit * reach; }
};

}  // namespace pegasos
