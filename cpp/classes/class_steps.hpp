// The dual steps of a row in several classes at once, in loops over the classes that become vector
// instructions. Costs are 1: variables are shares q of the cost, and `size` is C s_i ||x_i||^2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/vector_math.hpp"
#include "classes/class_matrix.hpp"
#include "linear/losses.hpp"

namespace pegasos {

template <class Loss>
class ClassSteps {
public:
    ClassSteps(const Loss& loss, std::size_t) : loss_(loss) {}

    /// The best q of each class, from the present ones and the margins.
    template <class Real>
    void ascend(std::size_t K, const double* z, const Real* q, double size, double* next) {
#pragma omp simd
        for (std::size_t k = 0; k < K; ++k) next[k] = loss_.ascend(q[k], 1, z[k], size, 1);
    }

private:
    const Loss loss_;
};

/// As LogLoss::ascend, by Newton's steps of all classes until the last of them is there.
template <>
class ClassSteps<LogLoss> {
public:
    ClassSteps(const LogLoss&, std::size_t stride) : low_(stride), high_(stride) {}

    template <class Real>
    void ascend(std::size_t K, const double* z, const Real* q, double size, double* next) {
        constexpr double close =
            sizeof(Real) == sizeof(float) ? 1e-4 : 1e-7;  // half its square is the error left
        double *low = low_.data(), *high = high_.data(), *t = next;
        for (std::size_t k = 0; k < K; ++k) {
            low[k] = -z[k] - size * (1 - static_cast<double>(q[k]));
            high[k] = -z[k] + size * static_cast<double>(q[k]);
            t[k] = -z[k];
        }
        for (int step = 0; step < 50; ++step) {
            double farthest = 0;
#pragma omp simd reduction(max : farthest)
            for (std::size_t k = 0; k < K; ++k) {
                const double p = 1 / (1 + fast_exp(-t[k]));
                const double error = -t[k] - z[k] - size * (p - static_cast<double>(q[k]));
                low[k] = error > 0 ? t[k] : low[k];
                high[k] = error > 0 ? high[k] : t[k];
                const double newton = t[k] + error / (1 + size * p * (1 - p));
                const bool inside =
                    ((newton > low[k]) & (newton < high[k])) | (newton == t[k]);  // it is there
                const double to = inside ? newton : low[k] + (high[k] - low[k]) / 2;
                farthest = std::max(farthest, std::abs(to - t[k]) / (1 + std::abs(to)));
                t[k] = to;
            }
            if (farthest <= close) break;
        }
#pragma omp simd
        for (std::size_t k = 0; k < K; ++k) next[k] = 1 / (1 + fast_exp(-t[k]));
    }

private:
    AlignedVector<double> low_, high_;
};

}  // namespace pegasos
