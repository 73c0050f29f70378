// Kernels: functions of two examples that are inner products in some space. All but the Gaussian one are
// functions of <x, x'> alone; the Gaussian one also takes the norms, ||x - x'||^2 = ||x||^2 + ||x'||^2 - 2
// <x, x'>, or where that would round off what counts, the squared distance itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "base/vector_math.hpp"

namespace pegasos {

/// powers[k] = bases[k]^degree, by squaring; `bases` are overwritten. The second and the third power are b b
/// and b b b.
template <std::size_t count, class Real>
void raise(Real* bases, Real* powers, int degree) {
    std::fill_n(powers, count, Real{1});
    for (int left = degree; left > 0; left >>= 1) {
        if (left & 1)
            for (std::size_t k = 0; k < count; ++k) powers[k] = powers[k] * bases[k];
        if (left > 1)
            for (std::size_t k = 0; k < count; ++k) bases[k] = bases[k] * bases[k];
    }
}

struct Kernel {
    enum class Kind { linear, poly, rbf, sigmoid };
    Kind kind = Kind::linear;
    double gamma = 1, coef0 = 0;
    int degree = 3;
    bool differences = false;  // of the Gaussian one: distances are sums of squared differences

    static Kind named(const std::string& name) {
        if (name == "linear") return Kind::linear;
        if (name == "poly") return Kind::poly;
        if (name == "rbf") return Kind::rbf;
        if (name == "sigmoid") return Kind::sigmoid;
        throw std::invalid_argument("unknown kernel '" + name + "'");
    }

    /// Of `rows` examples x, whose squared norms are `own`: values[k] becomes the kernel of x and x_k; it is
    /// <x, x_k> before, or ||x - x_k||^2. `squares` are those of the x_k; there are `count` numbers a row.
    template <std::size_t count, class Real>
    void apply(Real* values, std::size_t rows, const Real* own, const Real* squares) const {
        constexpr double log2_e = 0x1.71547652b82fep0;
        constexpr Real most = most_exponent<Real>;
        const Real g = static_cast<Real>(gamma), c = static_cast<Real>(coef0);
        const Real rate = static_cast<Real>(-log2_e * gamma), twice = static_cast<Real>(2 * log2_e);
        for (std::size_t row = 0; row < rows; ++row, values += count) {
            const Real square = own[row];
            switch (kind) {
                case Kind::linear:
                    return;
                case Kind::poly: {
                    Real bases[count];
#pragma omp simd
                    for (std::size_t k = 0; k < count; ++k) bases[k] = g * values[k] + c;
                    raise<count>(bases, values, degree);
                    break;
                }
                case Kind::rbf:
#pragma omp simd
                    for (std::size_t k = 0; k < count; ++k) {
                        const Real distance = differences ? values[k] : square + squares[k] - 2 * values[k];
                        const Real exponent = rate * (distance > 0 ? distance : Real{0});
                        values[k] = fast_exp2(exponent > -most ? exponent : -most);
                    }
                    break;
                case Kind::sigmoid:
#pragma omp simd
                    for (std::size_t k = 0; k < count; ++k) {
                        const Real exponent = twice * (g * values[k] + c);
                        values[k] = 1 - 2 / (fast_exp2(std::clamp(exponent, -most, most)) + 1);
                    }
                    break;
            }
        }
    }

    /// The kernel of an example with itself.
    double of_itself(double square) const {
        if (kind == Kind::rbf) return 1;
        apply<1>(&square, 1, &square, &square);
        return square;
    }
};

}  // namespace pegasos
