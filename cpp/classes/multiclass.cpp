#include "classes/multiclass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/vector_math.hpp"
#include "linear/visits.hpp"

namespace pegasos {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
typedef double Lanes __attribute__((vector_size(64), may_alias));

double largest_lane(const Lanes& lanes) {
    const Lanes other = __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7, 0, 1, 2, 3);
    const Lanes four = lanes > other ? lanes : other;
    const Lanes next = __builtin_shufflevector(four, four, 2, 3, 0, 1, 6, 7, 4, 5);
    const Lanes two = four > next ? four : next;
    return std::max(two[0], two[1]);
}

/// Of numbers of padded length.
double largest_of(const AlignedVector<double>& numbers) {
    const Lanes* lanes = reinterpret_cast<const Lanes*>(numbers.data());
    Lanes top = lanes[0];
    for (std::size_t v = 1; v < numbers.size() / 8; ++v) top = lanes[v] > top ? lanes[v] : top;
    return largest_lane(top);
}

class HingeAscent final : public JointAscent {
public:
    HingeAscent(const AlignedVector<double>& cost, std::size_t n_classes)
        : K_(n_classes), stride_(padded(n_classes)), cost_(cost), g_(stride_) {}

    JointVisit visit(const double* f, JointRow& row, double* p, double a) override {
        const double top = highest(f, row.label);
        if (row.vertex != JointRow::none) {
            const double here = g_[row.vertex];
            if (top - here <= tiny * (1 + std::abs(top))) {
                g_[row.vertex] = -infinity;
                const double next = largest_of(g_);
                return {top - here, 0, here - next};
            }
            JointVisit found{top - here, top - here};
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
        JointVisit found{mean, top - low};
        if (found.violation <= tiny * (1 + std::abs(top))) return found;
        return move(found, row, p, top, a);
    }

    /// At a vertex that is the maximum, the distance from where it is not one tells how long.
    double rest(double calm, double usual) const override { return epochs_of_rest(calm, usual); }

    std::span<const ClassChange> changes() const override { return changes_; }

private:
    struct Candidate {
        std::uint32_t k;
        double v;
    };
    static constexpr double tiny = 1e-14;

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
        return largest_lane(top);
    }

    // p <- the projection of v = p + g / a onto the simplex: max(v - tau, 0), of sum 1. Taking the highest g
    // from all of them changes tau only, and keeps what matters exact however small a is. tau is the largest
    // (sum of v - 1) / count over all sets of classes, so the support of p gives a lower bound. Classes above
    // it are added, each raising it (Condat, 2016), and those that end below are dropped (Michelot, 1986).
    JointVisit move(JointVisit found, JointRow& row, double* p, double top, double a) {
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

    const std::size_t K_, stride_;
    const AlignedVector<double>& cost_;
    AlignedVector<double> g_;
    std::vector<std::uint32_t> support_;
    std::vector<Candidate> candidates_;
    std::vector<ClassChange> changes_;
};

class JointHinge final : public JointLoss {
public:
    JointHinge(std::span<const double> cost, std::size_t n_classes)
        : K_(n_classes), stride_(padded(n_classes)), cost_(K_ * stride_, -infinity) {
        for (std::size_t y = 0; y < K_; ++y) {
            const auto own = cost.subspan(y * K_, K_);
            std::copy(own.begin(), own.end(), &cost_[y * stride_]);
            dearest_.push_back(*std::max_element(own.begin(), own.end()));
        }
    }

    double at_zero(std::uint32_t y) const override { return dearest_[y]; }

    /// p is one for the first of the classes that attain the maximum, y before all others.
    double slope(const double* f, std::uint32_t y, double* p) const override {
        const double* cost = &cost_[y * stride_];
        const double top = highest(f, cost);
        std::size_t best = y;
        if (top > f[y])
            for (best = 0; best + 1 < K_ && cost[best] + f[best] != top;) ++best;
        std::fill(p, p + stride_, 0.0);
        p[best] = 1;
        return top - f[y];
    }

    /// The largest of all moves by e, and f_y by as much.
    double excess(const double* f, std::uint32_t y, double e, double value) const override {
        e = 3 * e + 4 * unit * dearest_[y];
        if (value > 0) return e;
        const double* cost = &cost_[y * stride_];
        double others = -infinity;
        for (std::size_t k = 0; k < K_; ++k)
            if (k != y) others = std::max(others, cost[k] + f[k]);
        return others - (cost[y] + f[y]) < -e ? 0 : e;
    }

    double dual(const double* p, std::uint32_t y) const override {
        const double* cost = &cost_[y * stride_];
        double sum = 0;
        for (std::size_t k = 0; k < K_; ++k) sum += cost[k] * p[k];
        return sum;
    }

    Bound bound_of_dual(const double* p, std::uint32_t y, std::size_t largest, double) const override {
        const double value = dual(p, y);
        return {value, unit * static_cast<double>(K_ + 16) * (value + cost_[y * stride_ + largest])};
    }

    bool is_dual_linear() const override { return true; }
    std::unique_ptr<JointAscent> make_ascent() const override {
        return std::make_unique<HingeAscent>(cost_, K_);
    }

private:
    /// The largest of cost + f.
    double highest(const double* f, const double* cost) const {
        const Lanes* costs = reinterpret_cast<const Lanes*>(cost);
        const Lanes* scores = reinterpret_cast<const Lanes*>(f);
        Lanes top = costs[0] + scores[0];
        for (std::size_t v = 1; v < stride_ / 8; ++v) {
            const Lanes g = costs[v] + scores[v];
            top = g > top ? g : top;
        }
        return largest_lane(top);
    }

    std::size_t K_, stride_;
    AlignedVector<double> cost_;
    std::vector<double> dearest_;  // of the costs of each class
};

struct LogSum {
    double top;     // the highest score
    double beside;  // sum_k exp(f_k - top), without the term of the highest
    double value;   // log sum_k exp(f_k - top)
};

/// Leaves the terms in e. The largest, 1, is kept apart: a small loss is the sum of the others.
LogSum log_sum_of(const double* f, std::size_t K, double* e) {
    const double* largest = std::max_element(f, f + K);
    const double top = *largest;
    double sum = 0;
#pragma omp simd
    for (std::size_t k = 0; k < K; ++k) e[k] = fast_exp(f[k] - top);
    e[largest - f] = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t k = 0; k < K; ++k) sum += e[k];
    e[largest - f] = 1;
    return {top, sum, std::log1p(sum)};
}

class SoftmaxAscent final : public JointAscent {
public:
    explicit SoftmaxAscent(std::size_t n_classes)
        : K_(n_classes),
          stride_(padded(n_classes)),
          e_(stride_),
          z_(stride_),
          omega_(stride_),
          change_(stride_) {}

    // The maximiser has log p_k + a p_k = f_k + a p0_k - mu, which is a p_k = omega(f_k + a p0_k - mu +
    // log a) with Wright's omega function, and mu such that the p_k sum to 1. Newton's method on mu, on the
    // sum or, where p falls about as exp(-mu), on its logarithm; bisection where a step leaves the bracket.
    JointVisit visit(const double* f, JointRow& row, double* p, double a) override {
        const auto [top, beside, log_sum] = log_sum_of(f, K_, e_.data());
        double mean = 0;
        for (std::size_t k = 0; k < K_; ++k) mean += p[k] * (f[k] - top);
        const double gap = std::max(log_sum - mean - row.dual, 0.0);
        const double violation = std::sqrt(gap);
        JointVisit found{gap, violation, std::max(violation, 1e-30)};
        if (gap < 1e-15) return found;
        a = std::max(a, 1e-100);
        solve(f, p, a, top, log_sum);
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
    double rest(double calm, double usual) const override { return std::min(usual / (2 * calm), 15.0); }

    const double* change() const override { return change_.data(); }

private:
    /// omega_ = a p at the maximiser.
    void solve(const double* f, const double* p, double a, double top, double log_sum) {
        double *z = z_.data(), *omega = omega_.data();
        double mu = log_sum, low = -infinity, high = infinity;
        const double shift = std::log(a) - top;
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

    const std::size_t K_, stride_;
    AlignedVector<double> e_, z_, omega_, change_;
};

class Softmax final : public JointLoss {
public:
    explicit Softmax(std::size_t n_classes) : K_(n_classes), stride_(padded(n_classes)) {}

    double at_zero(std::uint32_t) const override { return std::log(static_cast<double>(K_)); }

    double slope(const double* f, std::uint32_t y, double* p) const override {
        const auto [top, beside, log_sum] = log_sum_of(f, K_, p);
        const double inverse = 1 / (1 + beside);
        for (std::size_t k = 0; k < K_; ++k) p[k] *= inverse;
        std::fill(p + K_, p + stride_, 0.0);
        return K_ > 1 ? std::max(log_sum + (top - f[y]), least) : 0;
    }

    /// The scores of the others and that of y move apart by 2 e; the slope, 1 - p_y, is below 1 and below the
    /// loss, and grows by less than e.
    double excess(const double*, std::uint32_t, double e, double value) const override {
        return 2 * e * std::min(1.0, value + e);
    }

    double dual(const double* p, std::uint32_t) const override {
        double sum = 0;
        for (std::size_t k = 0; k < K_; ++k)
            if (p[k] > 0) sum -= p[k] * std::log(p[k]);
        return sum;
    }

    Bound bound_of_dual(const double* p, std::uint32_t, std::size_t largest, double rest) const override {
        double sum = rest < 1 ? -(1 - rest) * std::log1p(-rest) : 0;
        for (std::size_t k = 0; k < K_; ++k)
            if (p[k] > 0 && k != largest) sum -= p[k] * std::log(p[k]);
        return {sum, unit * static_cast<double>(4 * K_ + 32) * sum};
    }

    bool is_dual_linear() const override { return false; }
    std::unique_ptr<JointAscent> make_ascent() const override { return std::make_unique<SoftmaxAscent>(K_); }

private:
    std::size_t K_, stride_;
};

}  // namespace

std::shared_ptr<const JointLoss> JointLoss::named(const std::string& name, std::span<const double> cost,
                                                  std::size_t n_classes) {
    if (name == "hinge") return std::make_shared<JointHinge>(cost, n_classes);
    if (name == "log_loss") return std::make_shared<Softmax>(n_classes);
    throw std::invalid_argument("unknown loss '" + name + "'");
}

}  // namespace pegasos
