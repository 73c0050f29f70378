// exp and log without branches, so that a loop over an array of them becomes vector instructions; the
// standard library's would be called one by one. They are off by at most 3 units in the last place of the
// exact value, exp in single precision by at most 1.5; tests/base/test_vector_math.py looks at grids.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace pegasos {

/// A polynomial of x, by its coefficients from the highest power on.
template <class Real, class... More>
[[gnu::always_inline]] inline Real polynomial(Real x, Real sum, More... coefficients) {
    ((sum = sum * x + coefficients), ...);
    return sum;
}

/// e^x; for x beyond +-`most` that of the nearer bound. x = n log 2 + r, |r| <= log(2)/2, and Taylor's
/// polynomial of r. log 2 is the sum of `high` and `low`; to add `magic` leaves a whole number in the low
/// bits.
template <class Bits, int mantissa, class Real, class... Taylor>
[[gnu::always_inline]] inline Real exp_by(Real x, Real most, Real inverse, Real high, Real low, Real magic,
                                          Taylor... taylor) {
    x = std::min(std::max(x, -most), most);
    const Real shifted = x * inverse + magic, n = shifted - magic;
    const Real sum = polynomial((x - n * high) - n * low, taylor...);
    return std::bit_cast<Real>(std::bit_cast<Bits>(sum) + (std::bit_cast<Bits>(shifted) << mantissa));
}

[[gnu::always_inline]] inline double fast_exp(double x) {
    return exp_by<std::uint64_t, 52>(x, 700.0, 0x1.71547652b82fep0, 0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45,
                                     0x1.8p52, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                     1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5,
                                     1.0, 1.0);
}
[[gnu::always_inline]] inline float fast_exp(float x) {
    return exp_by<std::uint32_t, 23>(x, 87.0f, 0x1.715476p0f, 0x1.62e4p-1f, 0x1.7f7d1cp-20f, 0x1.8p23f,
                                     1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f,
                                     1.0f);
}

/// log x for normal x > 0. x = 2^n m, m between the roots of 1/2 and 2, and the series of artanh.
inline double fast_log(double x) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t exponent = (bits + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu)) >> 52;
    const double m = std::bit_cast<double>(bits - (exponent << 52) + (std::uint64_t{1023} << 52));
    const double n = std::bit_cast<double>(exponent | 0x4330000000000000u) - (0x1.0p52 + 1023);
    const double s = (m - 1) / (m + 1), t = s * s;
    const double sum = polynomial(t, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9,
                                  2.0 / 7, 2.0 / 5, 2.0 / 3);
    return n * 0x1.62e42fefa38p-1 + (s * (t * sum + 2) + n * 0x1.ef35793c7673p-45);
}

/// One step towards the omega with omega + log(omega) = z (Fritsch, Shafer and Crowley, 1973): the relative
/// error to its fourth power.
inline double refine_omega(double omega, double z) {
    const double r = z - omega - fast_log(omega), next = omega + 1;
    const double twice = 2 * next * (next + r * (2.0 / 3));
    return omega * (1 + r / next * (twice - r) / (twice - 2 * r));
}

/// Wright's omega function, omega + log(omega) = z, for z >= -600; below, its value there.
inline double wright_omega(double z) {
    z = std::max(z, -600.0);
    const double e = fast_exp(std::min(z, 0.0)), l = fast_log(std::max(z, 1.0)), d = z - 1;
    const double small = e / (1 + e), middle = 1 + d / 2 + d * d / 16, large = z - l + l / std::max(z, 1.0);
    const double first = z < -1 ? small : z < 4 ? middle : large;
    return refine_omega(refine_omega(first, z), z);
}

}  // namespace pegasos
