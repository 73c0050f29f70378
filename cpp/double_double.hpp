// Numbers of twice the precision, as the sum of two (Dekker, 1971): for the few sums in which double
// precision rounds off what counts.
#pragma once

#include <cmath>

namespace pegasos {

struct DoubleDouble {
    /// The relative error of an operation is at most a few of these.
    static constexpr double unit = 0x1p-104;

    double high = 0, low = 0;

    double value() const { return high + low; }
    DoubleDouble negative() const { return {-high, -low}; }

    void add(const DoubleDouble& other) {
        const DoubleDouble sum = exact_sum(high, other.high);
        *this = renormalised(sum.high, sum.low + (low + other.low));
    }
    void add(double x) { add(DoubleDouble{x, 0}); }
    void add_product(double a, double b) { add(exact_product(a, b)); }

    DoubleDouble times(double x) const {
        const DoubleDouble product = exact_product(high, x);
        return renormalised(product.high, product.low + low * x);
    }
    DoubleDouble times(const DoubleDouble& x) const {
        const DoubleDouble product = exact_product(high, x.high);
        return renormalised(product.high, product.low + (high * x.low + low * x.high));
    }

    /// a + b and a b without an error.
    static DoubleDouble exact_sum(double a, double b) {
        const double sum = a + b, part = sum - a;
        return {sum, (a - (sum - part)) + (b - part)};
    }
    static DoubleDouble exact_product(double a, double b) {
        const double product = a * b;
        return {product, std::fma(a, b, -product)};
    }

private:
    /// Of parts of which the second is small beside the first.
    static DoubleDouble renormalised(double high, double low) {
        const double sum = high + low;
        return {sum, low - (sum - high)};
    }
};

}  // namespace pegasos
