// The Stochastic Batch Perceptron (S4): stochastic gradient ascent on the slack-constrained problem
//
//     maximise over ||w|| <= 1 (and b)  f(w) = max gamma with sum_i s_i max(0, gamma - y_i (<w, phi_i> + b))
//     <= nu sum(s),
//
// whose value at w is a water level (water_level.hpp), and whose super-gradient is sum_i p_i y_i phi_i with
// the minimax distribution p, uniform under the level. Step t: draw j from p, w <- w + y_j phi_j / (R
// sqrt(t)), R the largest ||phi_i||, and back to the unit ball. The mean w_bar of the iterates, divided by
// its own level, is the machine.
//
// Bounds, for a given nu: any distribution p has f* <= ||sum_i p_i y_i phi_i|| + nu sum(s) max_i p_i / s_i,
// with an intercept provided that sum_i p_i y_i = 0; p is taken in proportion to the coefficients of w_bar.
//
// For a given C: with w_bar fixed and c_i its responses, w = w_bar / gamma minimises the regularised problem
// along its ray when C gamma sum_{c_i < gamma} s_i c_i = 1, which the level of just one nu satisfies. nu is
// bisected for it at every check, and the steps go on with that; the mean is of the iterates since the last
// check but one. The bounds are those of the regularised problem. Its dual point is C s_i y_i times the share
// of time that an example was under the level since the last check: the mean of the distributions p, up to a
// factor.
//
// A draw from p is made by rejection from examples drawn uniformly. As those do not depend on w, the next
// ones are known: when a kernel row is missing, those of the next that would be taken now come with it, as
// rows cost far less in blocks.
#include <cmath>
#include <deque>
#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "kernel/solvers/solve.hpp"
#include "kernel/water_level.hpp"

namespace pegasos {
namespace {

template <class Real>
class Sbp {
public:
    Sbp(const KernelProblem& problem, const std::vector<double>& labels, const std::vector<double>& weights,
        Gram<Real>& gram, const SbpOptions& options, const HoldOut& held_out, Context& context)
        : problem_(problem),
          labels_(labels),
          weights_(weights),
          n_(labels.size()),
          gram_(gram),
          options_(options),
          context_(context),
          checks_(problem, gram, options.tol, held_out, context),
          random_(options.seed),
          total_(std::accumulate(weights.begin(), weights.end(), 0.0)),
          heaviest_(*std::max_element(weights.begin(), weights.end())),
          radius_(largest_norm(gram, labels.size())),
          nu_(options.nu < 0 ? 0.1 * radius_ : options.nu),
          level_(labels, weights, problem.free_intercept),
          c_(gram.size()),
          g_(gram.size()),
          earlier_c_(gram.size()),
          earlier_g_(gram.size()),
          sum_c_(gram.size()),
          sum_g_(gram.size()),
          last_c_(gram.size()),
          last_g_(gram.size()),
          under_(labels.size()) {
        double sums[2] = {0, 0};
        for (std::size_t i = 0; i < n_; ++i) sums[labels[i] > 0] += weights[i];
        if (problem.free_intercept && !(sums[0] > 0 && sums[1] > 0))
            throw std::invalid_argument(
                "sbp finds no intercept where all examples with a weight are of one class; use "
                "fit_intercept=False, or "
                "solver='smo'");
    }

    KernelSolution run(const std::vector<Proposal>& given) {
        proposals_.assign(given.begin(), given.end());
        KernelSolution solution;
        std::uint64_t next_check = std::min<std::uint64_t>(n_, options_.nu < 0 ? 64 : n_);
        until_ended(solution, [&] {
            for (bool over = false; !over;) {
                step();
                const double epochs = static_cast<double>(t_) / static_cast<double>(n_);
                context_.monitor.at_epoch(epochs);
                const bool last = t_ >= options_.max_steps, late = context_.monitor.worked(n_);
                if (t_ < next_check && !last && !late) continue;
                while (next_check <= t_)
                    next_check = checks_.holds_out() && t_ >= n_ ? next_check + n_ : 2 * next_check;
                over = check(last, solution) || late;
            }
        });
        checks_.finish(solution);
        solution.steps = solution.updates = t_;
        return solution;
    }

private:
    static constexpr std::size_t ahead = 64, looks = 16;

    static double largest_norm(const Gram<Real>& gram, std::size_t n) {
        double largest = 0;
        for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, gram.diagonal(i));
        return largest > 0 ? std::sqrt(largest) : 1;
    }

    double response(std::size_t i) const { return labels_[i] * scale_ * g_[i]; }

    /// How much of an example is under the level: one at it counts by the level's share.
    double share_under(std::size_t i, const WaterLevel::Level& level) const {
        const std::size_t k = level_.basin(i);
        const double c = labels_[i] * g_[i];
        return c < level.at[k] ? 1 : c == level.at[k] ? level.share[k] : 0;
    }

    /// The probability with which a proposal is taken.
    double acceptance(std::size_t i, const WaterLevel::Level& level) const {
        return share_under(i, level) * weights_[i] / heaviest_;
    }

    void step() {
        ++t_;
        const WaterLevel::Level level = level_.find(g_.data(), nu_ * total_ / scale_);
        if (options_.nu < 0 && t_ % looks == 0) note_under(level);
        const RowNumber j = draw(level);
        if (!gram_.has(j)) fetch(j, level);
        const double eta = 1 / (radius_ * std::sqrt(static_cast<double>(t_))), y = labels_[j];
        squared_norm_ += eta * (2 * response(j) + eta * gram_.diagonal(j));
        add(j, eta * y / scale_);
        if (squared_norm_ > 1) {
            scale_ /= std::sqrt(squared_norm_);
            squared_norm_ = 1;
        }
        mass_ += scale_;
        ++iterates_;
        if (scale_ < 1e-3) settle();
    }

    void note_under(const WaterLevel::Level& level) {
        ++noted_;
        for (std::size_t i = 0; i < n_; ++i) under_[i] += share_under(i, level);
    }

    /// What the examples under the level say about the dual; their kernel rows cost too much at first.
    void offer_dual() {
        if (t_ >= n_ / 4 && noted_ > 0 && noted_ * looks >= n_ / 8) {
            std::vector<double> beta(g_.size());
            for (std::size_t i = 0; i < n_; ++i)
                beta[i] = options_.C * weights_[i] * labels_[i] * under_[i] / static_cast<double>(noted_);
            checks_.offer(beta);
        }
        std::fill(under_.begin(), under_.end(), 0.0);
        noted_ = 0;
    }

    Proposal next_proposal(std::size_t k) {
        while (proposals_.size() <= k)
            proposals_.push_back({static_cast<RowNumber>(random_.below(n_)), random_.uniform()});
        return proposals_[k];
    }

    RowNumber draw(const WaterLevel::Level& level) {
        for (int tries = 0; tries < 256; ++tries) {
            const Proposal proposal = next_proposal(0);
            proposals_.pop_front();
            if (proposal.uniform < acceptance(proposal.row, level)) return proposal.row;
        }
        // Few are under the level: choose among these.
        const std::vector<RowNumber> few = level_.rows_under(g_.data(), level);
        double sum = 0;
        for (const RowNumber i : few) sum += acceptance(i, level);
        double rest = next_proposal(0).uniform * sum;
        proposals_.pop_front();
        RowNumber chosen = 0;
        for (const RowNumber i : few) {
            const double own = acceptance(i, level);
            if (own == 0) continue;
            chosen = i;
            rest -= own;
            if (rest < 0) break;
        }
        return chosen;
    }

    /// The kernel row of j, and with it those of the next proposals that would be taken now; where there are
    /// too few of these, of the examples lowest above the level, which may be under it soon.
    void fetch(RowNumber j, const WaterLevel::Level& level) {
        std::vector<RowNumber> wanted = {j};
        const auto want = [&](RowNumber i) {
            if (wanted.size() < ahead && !gram_.has(i) &&
                std::find(wanted.begin(), wanted.end(), i) == wanted.end())
                wanted.push_back(i);
        };
        for (std::size_t k = 0; k < 64 * ahead && wanted.size() < ahead; ++k) {
            const Proposal proposal = next_proposal(k);
            if (proposal.uniform < acceptance(proposal.row, level)) want(proposal.row);
        }
        if (wanted.size() < ahead && !gram_.is_full()) {
            std::vector<std::pair<double, RowNumber>> soon;
            for (std::size_t k = 0; k < 2; ++k)
                for (const WaterLevel::Near& one : level_.near(k))
                    soon.emplace_back(one.at - level.at[k], one.row);
            std::sort(soon.begin(), soon.end());
            for (const auto& [height, i] : soon) want(i);
        }
        std::vector<const Real*> found(wanted.size());
        gram_.rows(wanted, found);
    }

    void add(RowNumber j, double step) {
        const Real* row = gram_.row(j);
        const double missing = mass_ * step;
        c_[j] += step;
        earlier_c_[j] += missing;
        double* __restrict g = g_.data(), * __restrict earlier = earlier_g_.data();
        const std::size_t n = g_.size();
#pragma omp simd
        for (std::size_t i = 0; i < n; ++i) {
            const double own = static_cast<double>(row[i]);
            g[i] += step * own;
            earlier[i] += missing * own;
        }
    }

    // The sum of the iterates scale_t c_t is sum + mass c - earlier: a change of c was missing from those
    // before it. As the scale falls, the last two grow and cancel, so they are settled now and then.
    void settle() {
        double sums = 0;
        for (std::size_t i = 0; i < c_.size(); ++i) sums += mass_ * std::abs(c_[i]) + std::abs(earlier_c_[i]);
        rounded_ += 8 * (static_cast<double>(t_) + 64) * unit * sums * gram_.source().largest();
        for (std::size_t i = 0; i < g_.size(); ++i) {
            sum_c_[i] += mass_ * c_[i] - earlier_c_[i];
            sum_g_[i] += mass_ * g_[i] - earlier_g_[i];
            earlier_c_[i] = earlier_g_[i] = 0;
            c_[i] *= scale_;
            g_[i] *= scale_;
        }
        mass_ = 0;
        scale_ = 1;
        level_.scale_moved();
    }

    bool check(bool last, KernelSolution& solution) {
        settle();
        const double count = static_cast<double>(iterates_ + last_iterates_);
        std::vector<double> beta(g_.size()), f(g_.size());
        double size = 0;
        for (std::size_t i = 0; i < g_.size(); ++i) {
            beta[i] = (sum_c_[i] + last_c_[i]) / count;
            f[i] = (sum_g_[i] + last_g_[i]) / count;
            size += std::abs(beta[i]);
        }
        const double error = size * gram_.source().error() + (rounded_ + last_rounded_) / count;
        WaterLevel own(labels_, weights_, problem_.free_intercept);
        if (options_.nu < 0) {
            nu_ = matching_nu(f, own);
            offer_dual();
        }
        WaterLevel::Level level = own.find(f.data(), nu_ * total_);
        own.centre(f.data(), level);
        if (options_.nu >= 0) bound_margin(beta, f, error, level.gamma, solution);
        solution.nu = nu_;
        // A level of zero or less has no machine yet.
        const double factor = level.gamma > 0 ? 1 / level.gamma : 0, b = level.b * factor;
        for (double& value : beta) value *= factor;
        for (double& value : f) value *= factor;
        const double epochs = static_cast<double>(t_) / static_cast<double>(n_);
        const Bounds margins{solution.margin_bound, solution.margin, margin_above_, margin_below_};
        const bool over = checks_.check(beta, f, factor * error * (1 + 1e-10), b, epochs, last, false,
                                        solution, options_.nu < 0 ? nullptr : &margins);
        if (options_.nu < 0) {  // iterates of other nu, long ago, leave the mean
            last_c_ = std::exchange(sum_c_, std::vector<double>(g_.size()));
            last_g_ = std::exchange(sum_g_, std::vector<double>(g_.size()));
            last_iterates_ = std::exchange(iterates_, 0);
            last_rounded_ = std::exchange(rounded_, 0);
        }
        return over;
    }

    /// The nu at whose level C gamma sum_{under} s_i c_i = 1: the left side grows with nu. Both classes weigh
    /// the same under the level, those at it by their share, so that the intercept does not count.
    double matching_nu(const std::vector<double>& f, WaterLevel& own) {
        double low = 0, high = radius_;
        const auto product = [&](double nu) {
            const WaterLevel::Level level = own.find(f.data(), nu * total_);
            double sum = 0;
            for (std::size_t i = 0; i < n_; ++i) {
                const std::size_t k = own.basin(i);
                const double c = labels_[i] * f[i];
                sum += weights_[i] * c * (c < level.at[k] ? 1 : c == level.at[k] ? level.share[k] : 0);
            }
            return level.gamma > 0 ? level.gamma * sum * options_.C : 0.0;
        };
        while (high < 1e100 && product(high) < 1) low = high, high *= 256;
        for (int k = 0; k < 50 && high - low > 1e-9 * high; ++k) {
            const double middle = low > 0 ? std::sqrt(low * high) : high / 16;
            if (middle < 1e-300) break;
            (product(middle) < 1 ? low : high) = middle;
        }
        return high;
    }

    /// The margin of w, and a bound on the largest one, given responses that are off by at most `error`. A w
    /// that rounding has put outside of the ball has the margin of the nearest one inside.
    void bound_margin(const std::vector<double>& beta, const std::vector<double>& f, double error,
                      double gamma, KernelSolution& solution) {
        double sums[2] = {0, 0};
        for (std::size_t i = 0; i < n_; ++i) sums[beta[i] > 0] += std::abs(beta[i]);
        std::vector<double> p = beta, responses = f;
        if (problem_.free_intercept && sums[0] > 0 && sums[1] > 0) {
            std::vector<RowNumber> which;
            std::vector<double> steps;
            for (std::size_t i = 0; i < n_; ++i) {
                if (beta[i] == 0) continue;
                p[i] *= std::min(1.0, sums[beta[i] < 0] / sums[beta[i] > 0]);
            }
            pegasos::settle(problem_, p);
            for (std::size_t i = 0; i < n_; ++i) {
                if (p[i] == beta[i]) continue;
                which.push_back(static_cast<RowNumber>(i));
                steps.push_back(p[i] - beta[i]);
            }
            gram_.add(which, steps, responses);
        }
        Sum sum, square, own_square;
        double densest = 0, size = 0, moved = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            sum.add(std::abs(p[i]));
            square.add(p[i] * responses[i]);
            own_square.add(beta[i] * f[i]);
            size += std::abs(beta[i]);
            moved += std::abs(p[i] - beta[i]);
            if (p[i] != 0) densest = std::max(densest, std::abs(p[i]) / weights_[i]);
        }
        constexpr double slack = 1 + 1e-14;  // for the few operations that follow
        const double off = error + gram_.error_of(moved), slope = nu_ * total_ * densest;
        const double plain = (std::sqrt(std::max(square.value(), 0.0)) + slope) / sum.value();
        const double bound =
            (std::sqrt(std::max(square.value() + sum.value() * off, 0.0)) + slope) * slack / sum.value();
        if (solution.margin_bound == 0 || bound < solution.margin_bound) {
            solution.margin_bound = bound;
            margin_above_ = bound - plain;
        }
        const double norm = std::max(1.0, std::sqrt(std::max(own_square.value() + size * error, 0.0)));
        const double margin = gamma > error ? (gamma - error) / (norm * slack) : 0;
        if (margin > solution.margin) {
            solution.margin = margin;
            margin_below_ = gamma - margin;
        }
    }

    const KernelProblem& problem_;
    const std::vector<double>&labels_, &weights_;
    const std::size_t n_;
    Gram<Real>& gram_;
    const SbpOptions options_;
    Context& context_;
    KernelChecks<Real> checks_;
    Random random_;
    const double total_, heaviest_;
    const double radius_;  // the largest norm of an example
    double nu_;
    WaterLevel level_;
    std::vector<double> c_, g_;  // w = scale sum_j c_j phi_j
    std::vector<double> earlier_c_, earlier_g_, sum_c_, sum_g_, last_c_, last_g_;
    double scale_ = 1, squared_norm_ = 0, mass_ = 0;
    double rounded_ = 0, last_rounded_ = 0;  // how far sum_g_ and last_g_ may be off by rounding
    double margin_above_ = 0, margin_below_ = 0;
    std::uint64_t t_ = 0, iterates_ = 0, last_iterates_ = 0;
    std::vector<double> under_;  // how often an example was under the level, of so many looks
    std::size_t noted_ = 0;
    std::deque<Proposal> proposals_;
};

}  // namespace

KernelSolution solve_sbp(const KernelTask& task, const SbpOptions& options, const Labelled& examples,
                         const std::vector<Proposal>& proposals, const HoldOut& held_out) {
    return task.with_gram([&]<class Real>(Gram<Real>& gram) {
        return Sbp<Real>(task.problem, examples.labels, examples.weights, gram, options, held_out,
                         task.context)
            .run(proposals);
    });
}

}  // namespace pegasos
