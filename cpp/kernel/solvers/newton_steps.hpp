// Newton's steps on a small problem whose kernel matrix is at hand.
//
// Where examples are much alike and C is large, steps of single variables or pairs undo one another. The
// variables between their bounds are then solved for together, K_FF d = u_F, with an intercept
// K_FF d = u_F - b and sum d = 0, and moved by d, or as far along it as the first bound; whichever gets there
// is left out of the next step. d points upwards, and the objective grows along it up to its end, so that
// nothing is lost by trying. Where K_FF is singular, as that of a linear kernel with few features is, d is
// some direction upwards, and the best point along it is found by its slope and curvature; where it has none,
// it is a bound.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/monitor.hpp"
#include "base/symmetric.hpp"
#include "base/threads.hpp"
#include "kernel/solvers/dense_smo.hpp"

namespace pegasos {

template <class Real>
class NewtonSteps {
public:
    NewtonSteps(bool intercept, Team& team, Monitor& monitor)
        : intercept_(intercept), team_(team), monitor_(monitor) {}

    /// Returns how many coefficients changed, each change of one counted.
    std::uint64_t run(DenseProblem<Real>& p, std::size_t most_steps = 16) {
        constexpr std::size_t most = 1024;  // variables; a step takes a third of the cube of these
        std::uint64_t changes = 0;
        for (std::size_t step = 0; step < most_steps; ++step) {
            free_.clear();
            for (std::size_t k = 0; k < p.size(); ++k)
                if (p.inside(k)) free_.push_back(k);
            const std::size_t m = free_.size();
            if (m < 2 || m > most || !find_direction(p)) break;
            const bool whole = cut_at_bounds(p);
            for (std::size_t a = 0; a < m; ++a) move(p, free_[a], d_[a]);
            changes += m;
            if (whole || monitor_.worked(m * m)) break;
        }
        return changes;
    }

private:
    static constexpr double ridge = 1e-12;  // more than rounding, so that singular matrices have a factor

    /// d_, from where the free variables are to their best; false where rounding leaves none.
    bool find_direction(const DenseProblem<Real>& p) {
        const std::size_t m = free_.size();
        SymmetricSolver solver(m, team_, monitor_);
        std::vector<double> slope(m);
        d_.resize(m);
        for (std::size_t a = 0; a < m; ++a) {
            slope[a] = static_cast<double>(p.u[free_[a]]);
            for (std::size_t c = a; c < m; ++c)
                solver.matrix()[a * solver.stride() + c] = static_cast<double>(p.row(free_[a])[free_[c]]);
            solver.matrix()[a * solver.stride() + a] *= 1 + ridge;
        }
        solver.factor();
        solver.solve(slope, d_);
        if (intercept_) {
            std::vector<double> ones(m, 1.0), y(m);
            solver.solve(ones, y);
            const double b =
                std::accumulate(d_.begin(), d_.end(), 0.0) / std::accumulate(y.begin(), y.end(), 0.0);
            for (std::size_t a = 0; a < m; ++a) d_[a] -= b * y[a];
        }
        double upwards = 0, curvature = 0;
        for (std::size_t a = 0; a < m; ++a) {
            const Real* row = p.row(free_[a]);
            double across = 0;
            for (std::size_t c = 0; c < m; ++c) across += static_cast<double>(row[free_[c]]) * d_[c];
            curvature += d_[a] * across;
            upwards += slope[a] * d_[a];
        }
        length_ = curvature > 1e-12 * upwards ? upwards / curvature : 1e12;
        return upwards > 0 && std::isfinite(upwards);
    }

    /// Shortens d_ to the first bound, which it then meets; true where it meets none.
    bool cut_at_bounds(const DenseProblem<Real>& p) {
        const std::size_t m = free_.size();
        const auto room = [&](std::size_t a) {
            return static_cast<double>(d_[a] > 0 ? p.up[free_[a]] : p.down[free_[a]]);
        };
        double length = length_;
        std::size_t first = m, roomiest = 0;
        for (std::size_t a = 0; a < m; ++a) {
            if (d_[a] == 0 || length * std::abs(d_[a]) < room(a)) continue;
            length = room(a) / std::abs(d_[a]);
            first = a;
        }
        for (std::size_t a = 0; a < m; ++a) {
            const double size = a == first ? room(a) : std::min(length * std::abs(d_[a]), room(a));
            d_[a] = std::copysign(size, d_[a]);
            const auto least = [&](std::size_t c) { return std::min(p.up[free_[c]], p.down[free_[c]]); };
            if (a != first && (roomiest == first || least(a) > least(roomiest))) roomiest = a;
        }
        // What rounding leaves of their sum.
        if (intercept_) d_[roomiest] -= std::accumulate(d_.begin(), d_.end(), 0.0);
        return first == m;
    }

    static void move(DenseProblem<Real>& p, std::size_t k, double by) {
        p.move(k, by);
        const Real change = static_cast<Real>(by), *row = p.row(k);
        Real* __restrict u = p.u.data();
#pragma omp simd
        for (std::size_t i = 0; i < p.padded(); ++i) u[i] -= change * row[i];
    }

    const bool intercept_;
    Team& team_;
    Monitor& monitor_;
    std::vector<std::size_t> free_;
    std::vector<double> d_;
    double length_ = 1;  // to the best along d_
};

}  // namespace pegasos
