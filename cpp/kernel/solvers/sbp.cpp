// The Stochastic Batch Perceptron (S4): stochastic gradient ascent on the slack-constrained problem
// (margin.hpp), whose super-gradient is sum_i p_i y_i phi_i with the minimax distribution p, uniform under
// the level. Step t: draw j from p, w <- w + y_j phi_j / (R sqrt(t)), R the largest ||phi_i||, and back to
// the unit ball.
//
// For a given C, the dual point is C s_i y_i times the share of time that an example was under the level
// since the last check: the mean of the distributions p, up to a factor.
//
// A draw from p is made by rejection from examples drawn uniformly. As those do not depend on w, the next
// ones are known: when a kernel row is missing, those of the next that would be taken now come with it, as
// rows cost far less in blocks.
#include <cmath>
#include <deque>
#include <utility>

#include "base/random.hpp"
#include "kernel/solvers/margin.hpp"

namespace pegasos {
namespace {

template <class Real>
class Sbp {
public:
    Sbp(MarginAscent<Real>& w, bool free_intercept, Gram<Real>& gram, std::uint64_t seed,
        const std::vector<Proposal>& given)
        : w_(w),
          gram_(gram),
          random_(seed),
          heaviest_(*std::max_element(w.weights.begin(), w.weights.end())),
          level_(w.labels, w.weights, free_intercept),
          under_(w.n),
          proposals_(given.begin(), given.end()) {}

    void step() {
        const WaterLevel::Level level = level_.find(w_.g(), w_.nu() * w_.total / w_.scale());
        if (w_.finds_nu() && w_.t() % looks == 0) note_under(level);
        const RowNumber j = draw(level);
        if (!gram_.has(j)) fetch(j, level);
        const double eta = 1 / (w_.radius * std::sqrt(static_cast<double>(w_.t()))), y = w_.labels[j];
        squared_norm_ += eta * (2 * (y * w_.scale() * w_.g()[j]) + eta * gram_.diagonal(j));
        w_.add(j, eta * y / w_.scale());
        double scale = w_.scale();
        if (squared_norm_ > 1) {
            scale /= std::sqrt(squared_norm_);
            squared_norm_ = 1;
        }
        w_.finish_step(scale);
    }

    void scale_moved(double) { level_.scale_moved(); }

    /// What the examples under the level say about the dual; their kernel rows cost too much at first.
    void offer_dual(double, double) {
        if (w_.t() >= w_.n / 4 && noted_ > 0 && noted_ * looks >= w_.n / 8) {
            std::vector<double> beta(gram_.size());
            for (std::size_t i = 0; i < w_.n; ++i)
                beta[i] = w_.C() * w_.weights[i] * w_.labels[i] * under_[i] / static_cast<double>(noted_);
            w_.offer(beta);
        }
        std::fill(under_.begin(), under_.end(), 0.0);
        noted_ = 0;
    }

    void state(State& state) {
        std::vector<Proposal> proposals(proposals_.begin(), proposals_.end());
        state(proposals, random_, level_, squared_norm_, noted_);
        state.array(under_.data(), under_.size());
        if (std::any_of(proposals.begin(), proposals.end(), [&](const Proposal& p) { return p.row >= w_.n; }))
            State::refuse();
        proposals_.assign(proposals.begin(), proposals.end());
    }

private:
    static constexpr std::size_t ahead = 64, looks = 16;

    /// How much of an example is under the level: one at it counts by the level's share.
    double share_under(std::size_t i, const WaterLevel::Level& level) const {
        const std::size_t k = level_.basin(i);
        const double c = w_.labels[i] * w_.g()[i];
        return c < level.at[k] ? 1 : c == level.at[k] ? level.share[k] : 0;
    }

    /// The probability with which a proposal is taken.
    double acceptance(std::size_t i, const WaterLevel::Level& level) const {
        return share_under(i, level) * w_.weights[i] / heaviest_;
    }

    void note_under(const WaterLevel::Level& level) {
        ++noted_;
        for (std::size_t i = 0; i < w_.n; ++i) under_[i] += share_under(i, level);
    }

    Proposal next_proposal(std::size_t k) {
        while (proposals_.size() <= k)
            proposals_.push_back({static_cast<RowNumber>(random_.below(w_.n)), random_.uniform()});
        return proposals_[k];
    }

    RowNumber draw(const WaterLevel::Level& level) {
        for (int tries = 0; tries < 256; ++tries) {
            const Proposal proposal = next_proposal(0);
            proposals_.pop_front();
            if (proposal.uniform < acceptance(proposal.row, level)) return proposal.row;
        }
        // Few are under the level: choose among these.
        const std::vector<RowNumber> few = level_.rows_under(w_.g(), level);
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

    MarginAscent<Real>& w_;
    Gram<Real>& gram_;
    Random random_;
    const double heaviest_;
    WaterLevel level_;
    double squared_norm_ = 0;
    std::vector<double> under_;  // how often an example was under the level, of so many looks
    std::size_t noted_ = 0;
    std::deque<Proposal> proposals_;
};

}  // namespace

KernelSolution solve_sbp(const KernelTask& task, const MarginOptions& options, const Labelled& examples,
                         const std::vector<Proposal>& proposals, const HoldOut& held_out) {
    return task.with_gram([&]<class Real>(Gram<Real>& gram) {
        MarginAscent<Real> ascent("sbp", task, examples, gram, options, held_out);
        Sbp<Real> steps(ascent, task.problem.free_intercept, gram, options.seed, proposals);
        return ascent.run(steps);
    });
}

}  // namespace pegasos
