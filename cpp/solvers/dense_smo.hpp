// Sequential minimal optimisation of a small problem whose kernel matrix is at hand (kernel_problem.hpp has the
// symbols).
//
// With a free intercept a step moves a pair, beta_i + delta and beta_j - delta. i is the variable that may grow
// with the largest slope; j, of those that may shrink, the one whose pair with i gains most, by the second-order
// estimate (u_i - u_j)^2 / (K_ii + K_jj - 2 K_ij) (Fan, Chen, Lin, 2005). Without an intercept a step moves the
// one variable that gains most. Either step is exact, up to the bounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace pegasos {

/// Some of the variables of a problem, the others fixed.
template <class Real>
struct DenseProblem {
    std::size_t size = 0, stride = 0;
    const Real* K = nullptr;                // row by row
    std::vector<double> beta, lo, hi, u;    // u: the slopes
    std::vector<float> diagonal;

    void resize(std::size_t m) {
        size = m;
        for (auto* vector : {&beta, &lo, &hi, &u}) vector->resize(m);
        diagonal.resize(m);
    }
    const Real* row(std::size_t i) const { return K + i * stride; }
};

template <class Real>
class DenseSmo {
public:
    explicit DenseSmo(bool pairs) : pairs_(pairs) {}

    /// Steps until the violation is at most `share` of that at the start, or `least`; returns how many.
    std::uint64_t run(DenseProblem<Real>& p, double share, double least, std::uint64_t most_steps) {
        gains_.resize(p.size);
        std::uint64_t steps = 0;
        double goal = -1;
        for (; steps < most_steps; ++steps) {
            const double violation = pairs_ ? choose_pair(p) : choose_one(p);
            if (goal < 0) goal = std::max(share * violation, least);
            if (!(violation > goal)) break;
            if (pairs_)
                move_pair(p);
            else
                move_one(p);
        }
        return steps;
    }

private:
    static constexpr float tiny = 1e-12f;

    /// The largest slope of a variable that may grow, less the smallest of one that may shrink.
    double choose_pair(const DenseProblem<Real>& p) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double up = -infinity, low = infinity;
#pragma omp simd reduction(max : up) reduction(min : low)
        for (std::size_t k = 0; k < p.size; ++k) {
            const double grows = p.beta[k] < p.hi[k] ? p.u[k] : -infinity;
            const double shrinks = p.beta[k] > p.lo[k] ? p.u[k] : infinity;
            up = grows > up ? grows : up;
            low = shrinks < low ? shrinks : low;
        }
        if (!(up > low)) return 0;
        i_ = 0;
        while (!(p.beta[i_] < p.hi[i_] && p.u[i_] == up)) ++i_;
        const Real* row = p.row(i_);
        const float own = p.diagonal[i_];
        float best = 0;
#pragma omp simd reduction(max : best)
        for (std::size_t k = 0; k < p.size; ++k) {
            const float difference = static_cast<float>(up - p.u[k]);
            float curvature = own + p.diagonal[k] - 2 * static_cast<float>(row[k]);
            curvature = curvature > tiny ? curvature : tiny;
            const bool may = p.beta[k] > p.lo[k] && difference > 0;
            gains_[k] = may ? difference * difference / curvature : -1.0f;
            best = gains_[k] > best ? gains_[k] : best;
        }
        j_ = 0;
        while (j_ < p.size && gains_[j_] != best) ++j_;
        if (j_ == p.size) return 0;  // differences that single precision does not see
        return up - low;
    }

    void move_pair(DenseProblem<Real>& p) {
        const Real *a = p.row(i_), *c = p.row(j_);
        const double curvature =
            std::max(static_cast<double>(a[i_]) + c[j_] - 2 * static_cast<double>(a[j_]), double{tiny});
        double delta = (p.u[i_] - p.u[j_]) / curvature;
        const double room_i = p.hi[i_] - p.beta[i_], room_j = p.beta[j_] - p.lo[j_];
        if (delta >= room_i || delta >= room_j) {  // exactly to the bound
            delta = std::min(room_i, room_j);
            p.beta[i_] = delta == room_i ? p.hi[i_] : p.beta[i_] + delta;
            p.beta[j_] = delta == room_j ? p.lo[j_] : p.beta[j_] - delta;
        } else {
            p.beta[i_] += delta;
            p.beta[j_] -= delta;
        }
        double* __restrict u = p.u.data();
#pragma omp simd
        for (std::size_t k = 0; k < p.size; ++k) u[k] -= delta * static_cast<double>(a[k] - c[k]);
    }

    /// The slope of the variable whose step gains most.
    double choose_one(const DenseProblem<Real>& p) {
        float best = 0;
#pragma omp simd reduction(max : best)
        for (std::size_t k = 0; k < p.size; ++k) {
            const double curvature = p.diagonal[k] > tiny ? p.diagonal[k] : tiny;
            double next = p.beta[k] + p.u[k] / curvature;
            next = next < p.hi[k] ? next : p.hi[k];
            next = next > p.lo[k] ? next : p.lo[k];
            const double step = next - p.beta[k];
            gains_[k] = static_cast<float>(step * (p.u[k] - 0.5 * curvature * step));
            best = gains_[k] > best ? gains_[k] : best;
        }
        if (!(best > 0)) return 0;
        i_ = 0;
        while (gains_[i_] != best) ++i_;
        return std::abs(p.u[i_]);
    }

    void move_one(DenseProblem<Real>& p) {
        const Real* a = p.row(i_);
        const double curvature = std::max(static_cast<double>(a[i_]), double{tiny});
        const double next = std::clamp(p.beta[i_] + p.u[i_] / curvature, p.lo[i_], p.hi[i_]);
        const double delta = next - p.beta[i_];
        p.beta[i_] = next;
        double* __restrict u = p.u.data();
#pragma omp simd
        for (std::size_t k = 0; k < p.size; ++k) u[k] -= delta * static_cast<double>(a[k]);
    }

    const bool pairs_;
    std::size_t i_ = 0, j_ = 0;
    std::vector<float> gains_;
};

}  // namespace pegasos
