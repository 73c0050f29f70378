// How far from the optimum, of all classes jointly (see multiclass.hpp, and certificate.hpp for what it is).
//
// A dual point is kept as e_y - p, in which U is linear and whose multiples by c in [0, 1] lead to p = e_y:
// so `DualPoint` rescales and joins it as it does the q of two classes. A mean of the slopes met, each in the
// simplex, is in the simplex.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "certificate.hpp"
#include "monitor.hpp"
#include "multiclass.hpp"
#include "threads.hpp"

namespace pegasos {

/// p from e_y - p, or the reverse.
inline void swap_sign(std::vector<double>& q, std::span<const std::uint32_t> labels, std::size_t n_classes) {
    for (std::size_t i = 0; i < labels.size(); ++i)
        for (std::size_t k = 0; k < n_classes; ++k) {
            double& x = q[i * n_classes + k];
            x = k == labels[i] ? 1 - x : 0 - x;
        }
}

/// One pass over the rows: the exact primal value at W and, from `slope(i, loss, f, p)`, which fills in p, a
/// dual point. Each thread of the team takes a range of rows and sums into a matrix of its own.
template <class Loss, class Rows, class Slope>
double evaluate_jointly(const JointProblem<Rows>& problem, const ClassMatrix<double>& W, Team& team,
                        Monitor& monitor, DualPoint& point, Slope slope) {
    const Rows& rows = problem.rows;
    const std::size_t K = problem.n_classes, stride = padded(K);
    struct Part {
        Sum loss, linear;
        std::vector<ClassMatrix<double>> U;
    };
    std::vector<Part> parts(team.size());
    point.q.resize(rows.n_rows * K);
    team.run_ranges(rows.n_rows, [&](std::size_t t, std::size_t first, std::size_t last) {
        Part& part = parts[t];
        ClassMatrix<double>& U = part.U.emplace_back(problem.dimension(), K);
        Loss loss(problem.cost, K);
        AlignedVector<double> f(stride), p(stride);
        for (std::size_t i = first; i < last && !team.failed(); ++i) {
            const std::uint32_t y = problem.labels[i];
            const double s = problem.weights[i];
            W.scores(rows, i, f.data());
            part.loss.add(s * loss.value(f.data(), y));
            slope(i, loss, f.data(), p.data());
            part.linear.add(s * loss.dual(p.data(), y));
            for (std::size_t k = 0; k < K; ++k) p[k] = k == y ? 1 - p[k] : 0 - p[k];
            std::copy_n(p.begin(), K, point.q.begin() + static_cast<std::ptrdiff_t>(i * K));
            U.add_nonzero(rows, i, problem.C * s, p.data());
            if (t == 0) monitor.worked(rows.entries(i) * stride / 8);
        }
    });
    Sum loss, linear;
    for (const Part& part : parts) {
        loss.add(part.loss.value());
        linear.add(part.linear.value());
    }
    point.linear = problem.C * linear.value();
    const AlignedVector<double>& first = parts[0].U[0].values();
    point.u.assign(first.begin(), first.end());
    for (std::size_t t = 1; t < parts.size(); ++t) {
        const AlignedVector<double>& other = parts[t].U[0].values();
        for (std::size_t j = 0; j < other.size(); ++j) point.u[j] += other[j];
    }
    Sum square;
    for (const double x : W.values()) square.add(x * x);
    return square.value() / 2 + problem.C * loss.value();
}

/// The bounds of a W and a p from elsewhere, both without padding; where some p is not in the simplex there
/// is no lower one.
template <class Loss, class Rows>
Bounds certify_jointly(const JointProblem<Rows>& problem, const std::vector<double>& w,
                       const std::vector<double>& q, Team& team, Monitor& monitor) {
    const std::size_t K = problem.n_classes;
    ClassMatrix<double> W(problem.dimension(), K);
    W.assign(w);
    DualPoint point;
    const double primal = evaluate_jointly<Loss>(
        problem, W, team, monitor, point, [&](std::size_t i, Loss&, const double*, double* p) {
            std::copy_n(q.begin() + static_cast<std::ptrdiff_t>(i * K), K, p);
        });
    for (std::size_t i = 0; i < problem.rows.n_rows; ++i) {
        double sum = 0, lowest = 0;
        for (std::size_t k = 0; k < K; ++k) {
            sum += q[i * K + k];
            lowest = std::min(lowest, q[i * K + k]);
        }
        if (!(lowest >= 0 && std::abs(sum - 1) <= 1e-9))
            return {primal, -std::numeric_limits<double>::infinity()};
    }
    return {primal, point.value()};
}

/// What a run met of each row, since its start or the last check: the sums of its slopes p.
class Slopes {
public:
    Slopes(std::size_t n_rows, std::size_t n_classes)
        : K_(n_classes), visits_(n_rows), sums_(n_rows * n_classes) {}

    void met(std::size_t i, const double* p) {
        ++visits_[i];
        float* sum = &sums_[i * K_];
        for (std::size_t k = 0; k < K_; ++k) sum[k] += static_cast<float>(p[k]);
    }

    /// The mean; false where nothing was met.
    bool mean(std::size_t i, double* p) const {
        if (visits_[i] == 0) return false;
        const float* sum = &sums_[i * K_];
        double total = 0;
        for (std::size_t k = 0; k < K_; ++k) total += static_cast<double>(sum[k]);
        for (std::size_t k = 0; k < K_; ++k) p[k] = static_cast<double>(sum[k]) / total;
        return true;
    }

    /// The mean, and the count starts again.
    bool take(std::size_t i, double* p) {
        if (!mean(i, p)) return false;
        std::fill_n(&sums_[i * K_], K_, 0.0f);
        visits_[i] = 0;
        return true;
    }

private:
    std::size_t K_;
    std::vector<std::uint32_t> visits_;
    std::vector<float> sums_;
};

/// Follows a run: bounds at every check, and the best dual point so far.
template <class Loss, class Rows>
class JointCertifier {
public:
    JointCertifier(const JointProblem<Rows>& problem, Team& team, Monitor& monitor)
        : problem_(problem), team_(team), monitor_(monitor) {}

    /// Bounds at W after the slopes met; rows not met have the slope they have there.
    Bounds check(const ClassMatrix<double>& W, Slopes& slopes) {
        DualPoint fresh;
        const double primal = evaluate_jointly<Loss>(
            problem_, W, team_, monitor_, fresh, [&](std::size_t i, Loss& loss, const double* f, double* p) {
                if (!slopes.take(i, p)) loss.slope(f, problem_.labels[i], p);
            });
        fresh.rescale();
        if (best_.q.empty()) {
            best_ = std::move(fresh);
        } else {
            best_.join(fresh);
            best_.rescale();
        }
        return {primal, best_.value()};
    }

    std::vector<double> take_dual() {
        swap_sign(best_.q, problem_.labels, problem_.n_classes);
        return std::move(best_.q);
    }

private:
    const JointProblem<Rows>& problem_;
    Team& team_;
    Monitor& monitor_;
    DualPoint best_;
};

}  // namespace pegasos
