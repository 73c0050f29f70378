// SIMBA (Hazan, Koren, Srebro 2011; S4 section 4.1): the slack-constrained problem (margin.hpp) as a game,
//
//     max over ||w|| <= 1 and xi  min over distributions p  sum_i p_i (y_i <w, phi_i> + xi_i),
//     0 <= xi_i <= 2 R,  sum_i s_i xi_i <= nu sum(s),  R the largest ||phi_i||.
//
// Where the Stochastic Batch Perceptron finds the best p at each step, SIMBA changes p a little, by a step of
// mirror descent. Step t, from q_i = 1 at first:
//
//     p_i = s_i q_i / sum_k s_k q_k; draw j from p
//     z <- z + y_j phi_j, w_t = z / max(R sqrt(2 t), ||z||)
//     xi_t = the best xi for p: 2 R for the largest p_i / s_i, until nu sum(s) is used up
//     v_i = (y_i <w_t, phi_i> + xi_i) / R, cut off at +-1/eta, with eta = sqrt(log(n) / t)
//     q_i <- q_i (1 - eta v_i + eta^2 v_i^2).
//
// The paper is of linear machines, and estimates <w, x_i> by one feature drawn at random; with a kernel the
// responses of all examples are at hand (S4), and are taken as they are. It fixes the number of steps T
// beforehand, and has T for t in both step sizes.
//
// With an intercept the distributions are those with sum_i p_i y_i = 0: each class has one half, shared out
// among its s_i q_i. A common b then changes nothing in the game.
//
// For a given C, the dual point is made of the mean of the p since the last check: y_i min(C s_i, kappa p_i),
// with the kappa, one for each class where there is an intercept, for which it has the sum that belongs to
// w = w_bar / gamma, ||w||^2 + C nu sum(s) / gamma.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "kernel/solvers/margin.hpp"

namespace pegasos {
namespace {

template <class Real>
class Simba {
public:
    Simba(MarginAscent<Real>& w, Gram<Real>& gram, std::uint64_t seed, const std::vector<double>& uniforms)
        : w_(w),
          gram_(gram),
          random_(seed),
          given_(uniforms),
          q_(w.n, 1.0),
          p_(w.n),
          xi_(w.n),
          within_(w.n),
          dense_(w.n),
          mean_(w.n) {
        std::size_t count = 0;
        double heaviest[2] = {0, 0};
        for (std::size_t i = 0; i < w.n; ++i) {
            count += w.weights[i] > 0;
            heaviest[class_of(i)] = std::max(heaviest[class_of(i)], w.weights[i]);
        }
        log_count_ = std::log(std::max(static_cast<double>(count), 2.0));
        for (std::size_t k = 0; k < classes(); ++k)
            if (heaviest[k] > 0)
                units_[k] = std::ldexp(1.0, std::clamp(-std::ilogb(heaviest[k]), -1000, 1000));
        for (std::size_t i = 0; i < w.n; ++i) within_[i] = w.weights[i] * units_[class_of(i)];
    }

    void step() {
        const double t = static_cast<double>(w_.t()), R = w_.radius;
        find_p();
        find_slack();
        const RowNumber j = draw();
        if (w_.finds_nu() && w_.t() % looks == 0) note();
        if (!gram_.has(j)) fetch(j);
        squared_norm_ += 2 * w_.labels[j] * w_.g()[j] / unit_ + gram_.diagonal(j);
        w_.add(j, w_.labels[j] * unit_);
        w_.finish_step(1 / (unit_ * std::max(R * std::sqrt(2 * t), std::sqrt(std::max(squared_norm_, 0.0)))));
        change(std::sqrt(log_count_ / t));
    }

    void scale_moved(double factor) { unit_ *= factor; }

    /// Its kernel rows cost too much at first.
    void offer_dual(double gamma, double square) {
        if (w_.t() >= w_.n / 4 && noted_ * looks >= w_.n / 8 && noted_ > 0 && gamma > 0) {
            const double sum = square / (gamma * gamma) + w_.C() * w_.nu() * w_.total / gamma;
            std::vector<double> beta(gram_.size());
            for (std::size_t k = 0; k < classes(); ++k) {
                const double kappa = factor_for(k, sum / static_cast<double>(classes()));
                for (std::size_t i = 0; i < w_.n; ++i)
                    if (class_of(i) == k)
                        beta[i] = w_.labels[i] * std::min(w_.C() * w_.weights[i], kappa * mean_[i]);
            }
            w_.offer(beta);
        }
        std::fill(mean_.begin(), mean_.end(), 0.0);
        noted_ = 0;
    }

    void state(State& state) {
        state(random_, unit_, squared_norm_, used_, noted_);
        for (std::vector<double>* own : {&q_, &mean_}) state.array(own->data(), own->size());
    }

private:
    static constexpr std::size_t ahead = 64, looks = 16;
    static constexpr double least = 1e-200, most = 1e200;  // of q: what is zero or infinite stays so

    std::size_t classes() const { return w_.free_intercept() ? 2 : 1; }
    std::size_t class_of(std::size_t i) const { return w_.free_intercept() && w_.labels[i] < 0; }

    /// p and p_i / s_i, from q, whose sums by class are kept within the range of numbers: p does not depend
    /// on them. Nor does it depend on the scale of a class's weights, whose products with q would underflow
    /// where all of them are tiny.
    void find_p() {
        const std::size_t n = w_.n;
        double share[2];
        for (int tries = 3, scaled = 1; scaled; --tries) {
            double sums[2] = {0, 0};
            for (std::size_t i = 0; i < n; ++i) sums[class_of(i)] += within_[i] * q_[i];
            scaled = 0;
            for (std::size_t k = 0; k < classes(); ++k) {
                share[k] = 1 / (static_cast<double>(classes()) * sums[k]);
                if ((sums[k] > 0x1p-64 && sums[k] < 0x1p64) || tries == 0) continue;
                scaled = 1;
                const double factor = std::ldexp(1.0, -std::ilogb(sums[k]));
                for (std::size_t i = 0; i < n; ++i)
                    if (class_of(i) == k) q_[i] = std::clamp(q_[i] * factor, least, most);
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t k = class_of(i);
            const double own = q_[i] * share[k];
            p_[i] = own * within_[i];
            dense_[i] = {own * units_[k], w_.weights[i]};
        }
    }

    double uniform() { return used_ < given_.size() ? given_[used_++] : random_.uniform(); }

    RowNumber draw() {
        double rest = uniform();
        RowNumber chosen = 0;
        for (std::size_t i = 0; i < w_.n; ++i) {
            if (p_[i] == 0) continue;
            chosen = static_cast<RowNumber>(i);
            rest -= p_[i];
            if (rest < 0) break;
        }
        return chosen;
    }

    struct Dense {
        double density, weight;
    };

    /// xi, in units of R. Which p_i / s_i it ends at is found by halving; examples that have just that share
    /// what is left.
    void find_slack() {
        const std::size_t n = w_.n;
        double left = w_.nu() * w_.total / (2 * w_.radius);  // of the weight that slack is to be had for
        double threshold = 0, share = 1;
        some_ = dense_;
        for (std::size_t first = 0, last = n; first < last;) {
            threshold = some_[first + (last - first) / 2].density;
            std::size_t above = first,
                        below = last;  // larger ones before `above`, smaller ones from `below` on
            double more = 0, equal = 0;
            for (std::size_t k = first; k < below;) {
                const Dense one = some_[k];
                if (one.density > threshold) {
                    more += one.weight;
                    std::swap(some_[k++], some_[above++]);
                } else if (one.density < threshold) {
                    std::swap(some_[k], some_[--below]);
                } else {
                    equal += one.weight;
                    ++k;
                }
            }
            if (more > left) {
                last = above;
            } else if (more + equal > left) {
                share = (left - more) / equal;
                break;
            } else {
                left -= more + equal;
                first = below;
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double density = dense_[i].density;
            xi_[i] = density > threshold ? 2 : density == threshold ? 2 * share : 0;
        }
    }

    /// The step of mirror descent.
    void change(double eta) {
        const double scale = w_.scale() / w_.radius, cut = 1 / eta;
        const double *g = w_.g(), *labels = w_.labels.data(), *xi = xi_.data();
        double* __restrict q = q_.data();
        const std::size_t n = w_.n;
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            double v = labels[i] * scale * g[i] + xi[i];
            v = v > cut ? cut : v < -cut ? -cut : v;
            const double next = q[i] * (1 - eta * v + eta * eta * v * v);
            q[i] = next > least ? next < most ? next : most : least;
        }
    }

    void note() {
        ++noted_;
        for (std::size_t i = 0; i < w_.n; ++i) mean_[i] += p_[i];
    }

    /// kappa of a class, by bisection: the sum grows with it, up to that of the bounds.
    double factor_for(std::size_t k, double sum) const {
        const auto sum_at = [&](double kappa) {
            double found = 0;
            for (std::size_t i = 0; i < w_.n; ++i)
                if (class_of(i) == k) found += std::min(w_.C() * w_.weights[i], kappa * mean_[i]);
            return found;
        };
        double low = 0, high = sum;
        for (int tries = 0; tries < 200 && sum_at(high) < sum; ++tries) low = high, high *= 4;
        for (int tries = 0; tries < 60; ++tries) {
            const double middle = low + (high - low) / 2;
            (sum_at(middle) < sum ? low : high) = middle;
        }
        return high;
    }

    /// The kernel row of j, and with it those of examples that are likely to be drawn.
    void fetch(RowNumber j) {
        std::vector<RowNumber> wanted, missing;
        for (std::size_t i = 0; i < w_.n; ++i)
            if (i != j && p_[i] > 0 && !gram_.has(i)) missing.push_back(static_cast<RowNumber>(i));
        const std::size_t count = gram_.is_full() ? 0 : std::min(missing.size(), ahead - 1);
        std::partial_sort(
            missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(count), missing.end(),
            [&](RowNumber a, RowNumber b) { return p_[a] > p_[b] || (p_[a] == p_[b] && a < b); });
        wanted.assign(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(count));
        wanted.push_back(j);
        std::vector<const Real*> found(wanted.size());
        gram_.rows(wanted, found);
    }

    MarginAscent<Real>& w_;
    Gram<Real>& gram_;
    Random random_;
    const std::vector<double>& given_;
    std::size_t used_ = 0;
    std::vector<double> q_, p_, xi_;
    double units_[2] = {1, 1};    // by class, a power of two
    std::vector<double> within_;  // weights times these, the heaviest of each class about 1
    std::vector<Dense> dense_, some_;
    double log_count_ = 1;
    double unit_ = 1, squared_norm_ = 0;  // w's c is unit z; ||z||^2
    std::vector<double> mean_;            // sum of p at so many looks
    std::size_t noted_ = 0;
};

}  // namespace

KernelSolution solve_simba(const KernelTask& task, const MarginOptions& options, const Labelled& examples,
                           const std::vector<double>& uniforms, const HoldOut& held_out) {
    return task.with_gram([&]<class Real>(Gram<Real>& gram) {
        MarginAscent<Real> ascent("simba", task, examples, gram, options, held_out);
        Simba<Real> steps(ascent, gram, options.seed, uniforms);
        return ascent.run(steps);
    });
}

}  // namespace pegasos
