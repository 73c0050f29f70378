// exp and log without branches, so that a loop over an array of them becomes vector instructions; the
// standard library's would be called one by one. They are off by at most 3 units in the last place of the
// exact value, powers of two by at most 2; tests/base/test_vector_math.py looks at grids.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace pegasos {

/// e^x; for x beyond +-700 that of the nearer bound. x = n log 2 + r, |r| <= log(2)/2, and Taylor's
/// polynomial of r.
[[gnu::always_inline]] inline double fast_exp(double x) {
    constexpr double magic = 0x1.8p52;  // adding it leaves a whole number in the low bits
    x = std::min(std::max(x, -700.0), 700.0);
    const double shifted = x * 0x1.71547652b82fep0 + magic, n = shifted - magic;
    const double r = (x - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;
    double sum = 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1;
    sum = sum * r + 1;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) +
                                 (std::bit_cast<std::uint64_t>(shifted) << 52));
}

/// 2^t for |t| <= `most_exponent`. t = n + r, |r| <= 1/2, and the polynomial of r with the smallest largest
/// error among those that are 1 at 0.
template <class Real>
inline constexpr Real most_exponent = std::numeric_limits<Real>::max_exponent - 2;

[[gnu::always_inline]] inline float fast_exp2(float t) {
    constexpr float magic = 0x1.8p23f;
    const float shifted = t + magic, r = t - (shifted - magic);
    float sum = 0x1.470b48p-13f;
    sum = sum * r + 0x1.5f7276p-10f;
    sum = sum * r + 0x1.3b270ep-7f;
    sum = sum * r + 0x1.c6ae72p-5f;
    sum = sum * r + 0x1.ebfbe2p-3f;
    sum = sum * r + 0x1.62e432p-1f;
    sum = sum * r + 1;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(sum) +
                                (std::bit_cast<std::uint32_t>(shifted) << 23));
}

[[gnu::always_inline]] inline double fast_exp2(double t) {
    constexpr double magic = 0x1.8p52;
    const double shifted = t + magic, r = t - (shifted - magic);
    double sum = 0x1.c063841f3a21dp-32;
    sum = sum * r + 0x1.e605f964b639dp-28;
    sum = sum * r + 0x1.b54167a1b0034p-24;
    sum = sum * r + 0x1.62bfd49ededd3p-20;
    sum = sum * r + 0x1.ffcbee3b0a61cp-17;
    sum = sum * r + 0x1.43091309610fcp-13;
    sum = sum * r + 0x1.5d87fe7bbbe09p-10;
    sum = sum * r + 0x1.3b2ab6fba1e1cp-7;
    sum = sum * r + 0x1.c6b08d7048f31p-5;
    sum = sum * r + 0x1.ebfbdff82c598p-3;
    sum = sum * r + 0x1.62e42fefa39f3p-1;
    sum = sum * r + 1;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) +
                                 (std::bit_cast<std::uint64_t>(shifted) << 52));
}

/// log x for normal x > 0. x = 2^n m, m between the roots of 1/2 and 2, and the series of artanh.
inline double fast_log(double x) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t exponent = (bits + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu)) >> 52;
    const double m = std::bit_cast<double>(bits - (exponent << 52) + (std::uint64_t{1023} << 52));
    const double n = std::bit_cast<double>(exponent | 0x4330000000000000u) - (0x1.0p52 + 1023);
    const double s = (m - 1) / (m + 1), t = s * s;
    double sum = 2.0 / 21;
    sum = sum * t + 2.0 / 19;
    sum = sum * t + 2.0 / 17;
    sum = sum * t + 2.0 / 15;
    sum = sum * t + 2.0 / 13;
    sum = sum * t + 2.0 / 11;
    sum = sum * t + 2.0 / 9;
    sum = sum * t + 2.0 / 7;
    sum = sum * t + 2.0 / 5;
    sum = sum * t + 2.0 / 3;
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
