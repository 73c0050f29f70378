// exp and log without branches, so that a loop over an array of them becomes vector instructions; the
// standard library's would be called one by one. They are off by at most 3 units in the last place of the
// exact value, powers of two by at most 2; tests/base/test_vector_math.py looks at grids.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace pegasos {

/// A polynomial of x, by its coefficients from the highest power on.
template <class Real, class... More>
[[gnu::always_inline]] inline Real polynomial(Real x, Real sum, More... coefficients) {
    ((sum = sum * x + coefficients), ...);
    return sum;
}

/// x times 2^n, where `shifted` is n + `magic`: that sum has the whole number n in its low bits.
template <class Real>
inline constexpr Real magic = Real{3} / std::numeric_limits<Real>::epsilon() / 2;
[[gnu::always_inline]] inline double times_power(double x, double shifted) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) +
                                 (std::bit_cast<std::uint64_t>(shifted) << 52));
}
[[gnu::always_inline]] inline float times_power(float x, float shifted) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) +
                                (std::bit_cast<std::uint32_t>(shifted) << 23));
}

/// e^x; for x beyond +-700 that of the nearer bound. x = n log 2 + r, |r| <= log(2)/2, and Taylor's
/// polynomial of r.
[[gnu::always_inline]] inline double fast_exp(double x) {
    x = std::min(std::max(x, -700.0), 700.0);
    const double shifted = x * 0x1.71547652b82fep0 + magic<double>, n = shifted - magic<double>;
    const double r = (x - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;
    return times_power(
        polynomial(r, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                   1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0),
        shifted);
}

/// 2^t for |t| <= `most_exponent`. t = n + r, |r| <= 1/2, and the polynomial of r with the smallest largest
/// error among those that are 1 at 0.
template <class Real>
inline constexpr Real most_exponent = std::numeric_limits<Real>::max_exponent - 2;

[[gnu::always_inline]] inline float fast_exp2(float t) {
    const float shifted = t + magic<float>, r = t - (shifted - magic<float>);
    return times_power(polynomial(r, 0x1.470b48p-13f, 0x1.5f7276p-10f, 0x1.3b270ep-7f, 0x1.c6ae72p-5f,
                                  0x1.ebfbe2p-3f, 0x1.62e432p-1f, 1.0f),
                       shifted);
}

[[gnu::always_inline]] inline double fast_exp2(double t) {
    const double shifted = t + magic<double>, r = t - (shifted - magic<double>);
    return times_power(polynomial(r, 0x1.c063841f3a21dp-32, 0x1.e605f964b639dp-28, 0x1.b54167a1b0034p-24,
                                  0x1.62bfd49ededd3p-20, 0x1.ffcbee3b0a61cp-17, 0x1.43091309610fcp-13,
                                  0x1.5d87fe7bbbe09p-10, 0x1.3b2ab6fba1e1cp-7, 0x1.c6b08d7048f31p-5,
                                  0x1.ebfbdff82c598p-3, 0x1.62e42fefa39f3p-1, 1.0),
                       shifted);
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
