// clang-format off
// All classes in one problem, and its two losses. Nothing else in the core knows them.
//
//   minimise P(W) = 1/2 ||W||^2 + C sum_i s_i l(f_i, y_i),    f_i = x_i W: K scores, y_i in 0, ..., K - 1
//   maximise D(p) = C sum_i s_i g(p_i) - 1/2 ||U||^2,         U = sum_i C s_i x_i' (e_{y_i} - p_i)
//
// over p_i in the simplex: p_i >= 0, sum_k p_ik = 1. D <= optimum <= P, and at W = U
//
//   P - D = sum_i C s_i [ l(f_i, y_i) + f_i,y_i - <f_i, p_i> - g(p_i) ]
//
// is a sum of terms >= 0 (Fenchel and Young). With row i alone free, D is C s_i times
//
//   g(p) + <f, p> - a/2 ||p - p_i||^2,    a = C s_i ||x_i||^2,
//
// whose maximiser over the simplex is the step of dual coordinate ascent.
//
//   hinge      l = max_k (cost_yk + f_k) - f_y   g = <cost_y, p>      cost_yk >= 0, cost_yy = 0: what calling y k costs.
//                                                                     (Crammer and Singer: 1 unless k = y)
//   log_loss   l = log sum_k exp(f_k) - f_y      g = -sum_k p_k log p_k
//
// Both have g(e_y) = 0 and g concave, so p -> e_y + c (p - e_y) multiplies U by c and g at least by c.
//
// For bounds that allow for rounding: values are right to 32 + 2 K units (2^-53) relatively. excess: at least what the
// loss, `value` at f, grows by where each score is off by up to e, e above 4 units of the largest score; the rounding
// of differences of scores is in it. bound_of_dual: g of the point whose largest p is 1 less the others, which sum to
// `rest`, and an allowance for rounding that is not yet taken off.
// clang-format on
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/rounding.hpp"
#include "base/vector_math.hpp"
#include "classes/class_matrix.hpp"

namespace pegasos {

template <class Rows>
struct JointProblem {
    const Rows& rows;
    std::span<const std::uint32_t> labels;
    std::span<const double> weights;  // s
    double C;
    double total_weight;  // sum of s
    std::span<const double> cost;
    std::size_t n_classes;

    std::size_t dimension() const { return rows.n_features + 1; }
    double lambda() const { return 1 / (C * total_weight); }
};

/// What dual coordinate ascent keeps of a row besides p.
struct JointRow {
    static constexpr std::uint32_t none = UINT32_MAX;

    double bound;   // C s_i
    double square;  // ||x_i||^2
    double dual;    // g(p_i)
    std::uint32_t label;
    std::uint32_t vertex;  // the k with p = e_k, or none
};

/// What a visit found at the row's old p.
struct Visit {
    double gap;            // its term of the duality gap, over C s_i
    double violation = 0;  // how far its gradient is from that of a maximum
    double calm = 0;       // above 0: the row may rest for `rest(calm, usual violation)` epochs
    bool changed = false;  // p has moved,
    bool all = false;      // in all classes, by `change()`, or in those of `changes()`
};

/// The loss at given scores, with the arrays it computes in: each thread has its own. Scores and p have
/// padded length; p is zero in the padding, scores are anything.
class JointHinge {
public:
    JointHinge(std::span<const double> cost, std::size_t n_classes)
        : K_(n_classes), stride_(padded(n_classes)), cost_(K_ * stride_, -infinity), g_(stride_) {
        for (std::size_t y = 0; y < K_; ++y)
            std::copy_n(cost.data() + y * K_, K_, cost_.data() + y * stride_);
    }

    /// At zero scores: the best that is known before any step.
    double at_zero(std::uint32_t y) const {
        const double* cost = &cost_[y * stride_];
        return *std::max_element(cost, cost + K_);
    }

    double value(const double* f, std::uint32_t y) { return highest(f, y) - f[y]; }

    /// To be called after `value`. The largest of all moves by e, and f_y by as much.
    double excess(const double*, std::uint32_t y, double e, double value) {
        e = 3 * e + 4 * unit * at_zero(y);
        if (value > 0) return e;
        const double top = std::exchange(g_[y], -infinity);
        return *std::max_element(g_.begin(), g_.end()) - top >= -e ? e : 0;
    }

    /// p with l'(f) = p - e_y: the first of the classes that attain the maximum, y before all others.
    double slope(const double* f, std::uint32_t y, double* p) {
        const double top = highest(f, y);
        std::fill(p, p + stride_, 0.0);
        p[top > f[y] ? first(top) : y] = 1;
        return top - f[y];
    }

    double dual(const double* p, std::uint32_t y) const {
        const double* cost = &cost_[y * stride_];
        double sum = 0;
        for (std::size_t k = 0; k < K_; ++k) sum += cost[k] * p[k];
        return sum;
    }

    Bound bound_of_dual(const double* p, std::uint32_t y, std::size_t largest, double) const {
        const double value = dual(p, y);
        return {value, unit * static_cast<double>(K_ + 16) * (value + cost_[y * stride_ + largest])};
    }

    Visit visit(const double* f, JointRow& row, double* p, double a) {
        const double top = highest(f, row.label);
        if (row.vertex != JointRow::none) {
            const double here = g_[row.vertex];
            if (top - here <= tiny * (1 + std::abs(top))) {
                g_[row.vertex] = -infinity;
                const double next = *std::max_element(g_.begin(), g_.end());
                return {top - here, 0, here - next};
            }
            Visit found{top - here, top - here};
            support_.assign(1, row.vertex);
            return move(found, row, p, top, a);
        }
        support_.clear();
        double mean = 0, low = top;
        for (std::size_t k = 0; k < K_; ++k)
            if (p[k] > 0) {
                support_.push_back(static_cast<std::uint32_t>(k));
                mean += p[k] * (top - g_[k]);
                low = std::min(low, g_[k]);
            }
        Visit found{mean, top - low};
        if (found.violation <= tiny * (1 + std::abs(top))) return found;
        return move(found, row, p, top, a);
    }

    /// At a vertex that is the maximum, the distance from where it is not one tells how long.
    static double rest(double calm, double usual) { return std::min(2 * calm / usual, 255.0); }

    std::span<const ClassChange> changes() const { return changes_; }
    const double* change() const { return nullptr; }

private:
    struct Candidate {
        std::uint32_t k;
        double v;
    };
    typedef double Lanes __attribute__((vector_size(64), may_alias));
    static constexpr double infinity = std::numeric_limits<double>::infinity(), tiny = 1e-14;

    /// g_ = cost + f, whose maximum is the answer.
    double highest(const double* f, std::uint32_t y) {
        const Lanes* cost = reinterpret_cast<const Lanes*>(&cost_[y * stride_]);
        const Lanes* scores = reinterpret_cast<const Lanes*>(f);
        Lanes* g = reinterpret_cast<Lanes*>(g_.data());
        Lanes top = g[0] = cost[0] + scores[0];
        for (std::size_t v = 1; v < stride_ / 8; ++v) {
            g[v] = cost[v] + scores[v];
            top = g[v] > top ? g[v] : top;
        }
        double result = top[0];
        for (int lane = 1; lane < 8; ++lane) result = std::max(result, top[lane]);
        return result;
    }
    std::uint32_t first(double top) const {
        return static_cast<std::uint32_t>(std::find(g_.begin(), g_.end(), top) - g_.begin());
    }

    // p <- the projection of v = p + g / a onto the simplex: max(v - tau, 0), of sum 1. Taking the highest g
    // from all of them changes tau only, and keeps what matters exact however small a is. tau is the largest
    // (sum of v - 1) / count over all sets of classes, so the support of p gives a lower bound. Classes above
    // it are added, each raising it (Condat, 2016), and those that end below are dropped (Michelot, 1986).
    Visit move(Visit found, JointRow& row, double* p, double top, double a) {
        a = std::max(a, 1e-300);
        const double inverse = 1 / a;
        double sum = 0, count = 0, tau = 0, limit = 0;
        candidates_.clear();
        const auto include = [&](std::uint32_t k, double before) {
            const double v = std::max(before + (g_[k] - top) * inverse, -3.0);  // tau >= -1
            candidates_.push_back({k, v});
            sum += v;
            count += 1;
        };
        const auto bound = [&] {
            tau = (sum - 1) / count;
            limit = tau * a;
        };
        for (const std::uint32_t k : support_) {
            include(k, p[k]);
            g_[k] = -infinity;
        }
        bound();
        for (std::size_t k = 0; k < K_; ++k)
            if (g_[k] - top > limit) {
                include(static_cast<std::uint32_t>(k), 0);
                bound();
            }
        for (bool dropped = true; dropped;) {
            dropped = false;
            double kept = 0, left = 0;
            for (const auto& [k, v] : candidates_)
                if (v > tau) {
                    kept += v;
                    left += 1;
                }
            if (left < count) {
                dropped = true;
                count = left;
                tau = (kept - 1) / count;
            }
        }
        changes_.clear();
        const double* cost = &cost_[row.label * stride_];
        row.vertex = JointRow::none;
        for (const auto& [k, v] : candidates_) {
            const double next = std::max(v - tau, 0.0);
            if (next > 0 && count == 1) row.vertex = k;
            if (next == p[k]) continue;
            changes_.push_back({k, next - p[k]});
            row.dual += cost[k] * (next - p[k]);
            p[k] = next;
        }
        found.changed = !changes_.empty();
        return found;
    }

    std::size_t K_, stride_;
    AlignedVector<double> cost_, g_;
    std::vector<std::uint32_t> support_;
    std::vector<Candidate> candidates_;
    std::vector<ClassChange> changes_;
};

class Softmax {
public:
    Softmax(std::span<const double>, std::size_t n_classes)
        : K_(n_classes),
          stride_(padded(n_classes)),
          e_(stride_),
          z_(stride_),
          omega_(stride_),
          change_(stride_) {}

    double at_zero(std::uint32_t) const { return std::log(static_cast<double>(K_)); }

    double value(const double* f, std::uint32_t y) { return log_sum(f) + (top_ - f[y]); }

    double slope(const double* f, std::uint32_t y, double* p) {
        const double log_sum = this->log_sum(f), inverse = 1 / (1 + beside_);
        for (std::size_t k = 0; k < stride_; ++k) p[k] = k < K_ ? e_[k] * inverse : 0;
        return log_sum + (top_ - f[y]);
    }

    /// The scores of the others and that of y move apart by 2 e; the slope, 1 - p_y, is below 1 and below the
    /// loss, and grows by less than e.
    double excess(const double*, std::uint32_t, double e, double value) const {
        return 2 * e * std::min(1.0, value + e);
    }

    double dual(const double* p, std::uint32_t) const {
        double sum = 0;
        for (std::size_t k = 0; k < K_; ++k)
            if (p[k] > 0) sum -= p[k] * std::log(p[k]);
        return sum;
    }

    Bound bound_of_dual(const double* p, std::uint32_t, std::size_t largest, double rest) const {
        double sum = rest < 1 ? -(1 - rest) * std::log1p(-rest) : 0;
        for (std::size_t k = 0; k < K_; ++k)
            if (p[k] > 0 && k != largest) sum -= p[k] * std::log(p[k]);
        return {sum, unit * static_cast<double>(4 * K_ + 32) * sum};
    }

    // The maximiser has log p_k + a p_k = f_k + a p0_k - mu, which is a p_k = omega(f_k + a p0_k - mu +
    // log a) with Wright's omega function, and mu such that the p_k sum to 1. Newton's method on mu, on the
    // sum or, where p falls about as exp(-mu), on its logarithm; bisection where a step leaves the bracket.
    Visit visit(const double* f, JointRow& row, double* p, double a) {
        const double log_sum = this->log_sum(f);
        double mean = 0;
        for (std::size_t k = 0; k < K_; ++k) mean += p[k] * (f[k] - top_);
        const double gap = std::max(log_sum - mean - row.dual, 0.0);
        const double violation = std::sqrt(gap);
        Visit found{gap, violation, std::max(violation, 1e-30)};
        if (gap < 1e-15) return found;
        a = std::max(a, 1e-100);
        solve(f, p, a, log_sum);
        double sum = 0, dual = 0;
        double *omega = omega_.data(), *change = change_.data();
#pragma omp simd reduction(+ : sum)
        for (std::size_t k = 0; k < stride_; ++k) sum += omega[k];
        const double inverse = 1 / sum;
#pragma omp simd reduction(+ : dual)
        for (std::size_t k = 0; k < stride_; ++k) {
            const double next = omega[k] * inverse;
            dual -= next * fast_log(next);
            change[k] = next - p[k];
            p[k] = next;
        }
        for (std::size_t k = K_; k < stride_; ++k) p[k] = change[k] = 0;
        row.dual = dual;
        row.vertex = JointRow::none;
        found.changed = found.all = true;
        return found;
    }

    /// The gap of a row grows about with the square of the epochs it rests, all else being equal: let it not
    /// grow beyond a part of the others'.
    static double rest(double calm, double usual) { return std::min(usual / (2 * calm), 15.0); }

    std::span<const ClassChange> changes() const { return {}; }
    const double* change() const { return change_.data(); }

private:
    /// log sum_k exp(f_k - top), leaving the terms in e_. The largest, 1, is kept apart: a small loss is the
    /// sum of the others.
    double log_sum(const double* f) {
        const double* largest = std::max_element(f, f + K_);
        top_ = *largest;
        double* e = e_.data();
        double sum = 0;
#pragma omp simd
        for (std::size_t k = 0; k < K_; ++k) e[k] = fast_exp(f[k] - top_);
        e[largest - f] = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t k = 0; k < K_; ++k) sum += e[k];
        e[largest - f] = 1;
        beside_ = sum;
        return std::log1p(sum);
    }

    /// omega_ = a p at the maximiser.
    void solve(const double* f, const double* p, double a, double log_sum) {
        double *z = z_.data(), *omega = omega_.data();
        double mu = log_sum, low = -infinity, high = infinity;
        const double shift = std::log(a) - top_;
        for (std::size_t k = 0; k < K_; ++k) z[k] = f[k] + a * p[k] + shift;
        std::fill(z + K_, z + stride_, -1e300);
#pragma omp simd
        for (std::size_t k = 0; k < stride_; ++k) omega[k] = wright_omega(z[k] - mu);
        for (int iteration = 0; iteration < 100; ++iteration) {
            double sum = 0, slope = 0;
#pragma omp simd reduction(+ : sum, slope)
            for (std::size_t k = 0; k < stride_; ++k) {
                sum += omega[k];
                slope += omega[k] / (1 + omega[k]);
            }
            const double excess = sum / a - 1;
            if (std::abs(excess) <= 1e-13) return;
            (excess > 0 ? low : high) = mu;
            double step =
                slope > sum / 2 || excess < 0 ? std::log(sum / a) * sum / slope : excess * a / slope;
            if (!(mu + step > low && mu + step < high)) {
                if (std::isinf(low) || std::isinf(high))
                    step = std::copysign(std::max(std::abs(mu), 1.0), excess);
                else
                    step = (low + high) / 2 - mu;
            }
            if (mu + step == mu) return;
            mu += step;
            if (std::abs(step) < 0.25) {
#pragma omp simd
                for (std::size_t k = 0; k < stride_; ++k) {
                    const double guess = omega[k] * (1 - step / (1 + omega[k]));
                    omega[k] = refine_omega(guess, std::max(z[k] - mu, -600.0));
                }
            } else {
#pragma omp simd
                for (std::size_t k = 0; k < stride_; ++k) omega[k] = wright_omega(z[k] - mu);
            }
        }
    }

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    std::size_t K_, stride_;
    AlignedVector<double> e_, z_, omega_, change_;
    double top_ = 0, beside_ = 0;  // the highest score, and the sum of the terms of the others
};

}  // namespace pegasos
