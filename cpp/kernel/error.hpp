// How far computed values of a kernel can be from the true ones.
//
// u is the unit of rounding, R^2 the largest squared norm of an example, m the most products that are added
// up one after the other, c the relative error of the entries (those of a copy in single precision, or of one
// that is shifted). Sums of whole numbers that are small enough have no rounding. Inner products are
// otherwise off by at most R^2 (2.1 c + (m + 2) u), squared distances, as
// ||x||^2 + ||z||^2 - 2 <x, z>, by R^2 (8.1 c + (4 m + 14) u), and as sums of squared differences by a share
// of (m + 5) u of themselves.
//
// A power b^n has n - 1 roundings in whatever order its factors are multiplied: the product of b^i with i - 1
// of them and b^j with j - 1 has i + j - 1. So it is off by a share of (1 + u)^(n - 1) - 1 <= exp(n u) - 1,
// which is at most 1.01 n u while n u < 0.019. Where |b| < 1 it may also underflow, which takes at most two
// of the least numbers: the factors of what underflows are powers of b, and make what was lost before smaller
// yet.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel/kernel.hpp"

namespace pegasos {

/// The unit of rounding: half the distance from 1 to the next number.
template <class Real>
inline constexpr double rounding_unit = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;

struct KernelError {
    double unit;         // of the precision that values are in
    double entries;      // relative, of the examples
    double terms;        // of a sum
    double square;       // the largest squared norm
    bool whole = false;  // entries are whole numbers, and sums of their products have room

    /// The largest error of a value.
    double of(const Kernel& kernel) const {
        constexpr double u2 = rounding_unit<double>;
        const double product = whole ? 0 : square * (2.1 * entries + (terms + 2) * unit);
        const double largest = kernel.gamma * square + std::abs(kernel.coef0);
        const double lost = unit == u2 ? std::numeric_limits<double>::denorm_min()
                                       : std::numeric_limits<float>::denorm_min();  // what underflow takes
        const double base = kernel.gamma * product + 3 * unit * largest + lost * (2 + square);
        switch (kernel.kind) {
            case Kernel::Kind::linear:
                return product;
            case Kernel::Kind::poly: {
                const double degree = kernel.degree, own = 1 + 8 * degree * u2;  // of the powers here
                const double power = std::pow(largest + base, degree);
                const double share = std::max(1.01 * degree * unit, std::expm1(degree * unit));
                return own * (degree * std::pow(largest + base, std::max(degree - 1, 0.0)) * base +
                              share * power) +
                       2 * lost;
            }
            case Kernel::Kind::sigmoid:
                return base + 8 * unit;
            case Kernel::Kind::rbf:
                break;
        }
        // The power of two is off by at most 2 units (vector_math.hpp), and its exponent by a share of 3, two
        // roundings of its factor and one of the product; x exp(-x) is at most 0.37.
        constexpr double own = 3.2;
        if (kernel.differences) return 1.01 * unit * (0.37 * (terms + 5) + own);
        const double distance =
            whole ? 0 : square * (8.1 * entries + (2 * terms + 12) * unit + 2 * (terms + 2) * u2);
        return std::expm1(kernel.gamma * distance) + std::exp(kernel.gamma * distance) * own * unit + 2e-38;
    }
};

}  // namespace pegasos
