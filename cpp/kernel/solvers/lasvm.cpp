// LASVM (Bordes, Ertekin, Weston, Bottou 2005): SMO that takes in the examples one by one (problem.hpp has
// the symbols; the paper's alpha_i is beta_i here, its bounds A_i and B_i are lo_i and hi_i, its slope g_i is
// u_i).
//
// S holds the examples that are, or may become, support vectors; all others have beta = 0. A pair (i, j) is
// tau-violating when beta_i < hi_i, beta_j > lo_j and u_i - u_j > tau. Its step, exact up to the bounds, is
//
//     lambda = min((u_i - u_j) / (K_ii + K_jj - 2 K_ij), hi_i - beta_i, beta_j - lo_j),
//     beta_i += lambda, beta_j -= lambda, u_s -= lambda (K_is - K_js) for all s in S.
//
// PROCESS(k): nothing where k is in S. k joins S with beta_k = 0. The pair is k with the member of S that
// violates most with it: k may grow (y_k = 1) with the smallest u_j, or shrink with the largest u_i. A step,
// where the pair is tau-violating.
// REPROCESS: a step of the most violating pair of S, where it is tau-violating; then members with beta = 0
// leave that no pair of S wants, those that may grow with u_s <= min u_j and those that may shrink with
// u_s >= max u_i.
// A pass is PROCESS and REPROCESS for as many examples as there are, S first having five examples of each
// class. The finish is REPROCESS until delta = max u_i - min u_j <= tau.
//
// Without an intercept the sum of beta is free: a step moves one variable, beta_i + u_i / K_ii, and 0 takes
// the place of the other one's slope.
//
// The paper ends after one pass and one finish. Here the gap decides: where it is above the tolerance, there
// is another pass if an example outside of S violates, and else tau is divided by ten. Which example is next
// may be chosen: of 50 at random, outside of S, the one with the largest loss, or the smallest |f_k + b| with
// b = (max u_i + min u_j) / 2. Passes after the first take all in random order.
//
// In a pass the paper computes k's slope from the kernel values of k with S. Here whole rows of the kernel
// matrix are added to the responses of all examples, a stretch of visits at a time. Then slopes cost no
// kernel, only examples that move beta cost a row, and the bounds of the certificate are at hand.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "kernel/responses.hpp"
#include "kernel/solvers/solve.hpp"

namespace pegasos {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Real>
class Lasvm {
public:
    Lasvm(const KernelProblem& problem, Gram<Real>& gram, const LasvmOptions& options, Context& context)
        : problem_(problem),
          n_(problem.size()),
          gram_(gram),
          options_(options),
          context_(context),
          random_(options.seed),
          responses_(gram),
          tau_(options.tau),
          beta_(problem.size()),
          change_(problem.size()),
          inside_(problem.size()),
          order_(problem.size()) {
        std::iota(order_.begin(), order_.end(), RowNumber{0});
    }

    /// With a sequence its visits, once, and the finish.
    KernelSolution run(const std::vector<double>& start, const std::vector<RowNumber>& sequence) {
        KernelSolution solution;
        BestOfDual<Real> best(problem_, gram_);
        if (!start.empty()) begin_at(start);
        begin_pass(sequence);
        const std::uint64_t visits = sequence.empty() ? n_ : sequence.size() / candidates();
        double best_dual = -infinity;
        std::uint64_t looked = 0;
        int stuck = 0;
        const auto state = [&](State& state) {
            state(solution, best, best_dual, looked, stuck);
            pass_state(state);
        };
        context_.resume(state);
        until_ended(solution, [&] {
            while (solution.reason.empty()) {
                context_.offer(state);
                const bool late = online_ ? visit_some(visits, sequence) : finish_some();
                const bool spent = is_spent();
                if (online_ && next_ < visits && !late && !spent) continue;
                if (turns_ > looked || solution.history.empty()) {
                    looked = turns_;
                    solution.epochs = epochs();
                    const KernelBounds now = best.look(beta_, responses_.all(), solution, context_);
                    refresh();
                    stuck = now.plain.dual > best_dual + 1e-15 * std::abs(best_dual) ? 0 : stuck + 1;
                    best_dual = std::max(best_dual, now.plain.dual);
                    if (!solution.reason.empty()) break;
                    if (options_.tol > 0 && now.plain.gap() <= options_.tol) solution.reason = "tol";
                }
                if (!solution.reason.empty()) break;
                if (late)
                    solution.reason = "max_time";
                else if (spent || (!online_ && !sequence.empty() && delta() <= tau_))
                    solution.reason = "budget";
                else if (stuck > 20 || tau_ < 1e-15 || overflowed_)
                    solution.reason = "precision";
                else if (online_)
                    online_ = false;
                else if (delta() <= tau_)
                    go_on(sequence);
            }
        });
        best.finish(solution);
        solution.steps = steps_;
        solution.updates = problem_.free_intercept ? 2 * steps_ : steps_;
        solution.evaluations = gram_.evaluations();
        solution.seconds = context_.monitor.seconds();
        return solution;
    }

private:
    static constexpr std::size_t stretch = Responses<Real>::stretch, seeds = 5, sample = 50;
    static constexpr double tiny = 1e-12;  // the least curvature
    static constexpr double tie = 1e-12;   // beside labels of 1 and -1

    /// A turn is a visit, or a step of the finish.
    double epochs() const { return static_cast<double>(turns_) / static_cast<double>(n_); }
    bool is_spent() const {
        return static_cast<double>(turns_) >= options_.max_epochs * static_cast<double>(n_) * (1 - 1e-12);
    }
    /// Of which one is visited. Passes after the first are for examples that others kept from their turn.
    std::size_t candidates() const {
        return options_.selection == Selection::random || passes_ > 1 ? 1 : sample;
    }

    /// Between two stretches of turns.
    void pass_state(State& state) {
        state(random_, tau_, steps_, turns_, passes_, online_, next_, members_, u_, up_, down_, top_, bottom_,
              responses_, gram_);
        state.array(beta_.data(), n_);
        state.array(inside_.data(), n_);
        state.array(order_.data(), n_);
        const auto wrong = [&](RowNumber i) { return i >= n_; };
        if (std::any_of(members_.begin(), members_.end(), wrong) ||
            std::any_of(order_.begin(), order_.end(), wrong) || next_ > n_ || u_.size() != members_.size() ||
            up_.size() != members_.size() || down_.size() != members_.size())
            State::refuse();
    }

    void begin_at(const std::vector<double>& start) {
        for (std::size_t i = 0; i < n_; ++i) beta_[i] = std::clamp(start[i], problem_.lo[i], problem_.hi[i]);
        responses_.assign(beta_);
        for (std::size_t i = 0; i < n_; ++i)
            if (beta_[i] != 0) insert(static_cast<RowNumber>(i));
    }

    void begin_pass(const std::vector<RowNumber>& sequence) {
        shuffle(order_, random_);
        online_ = true;
        next_ = 0;
        ++passes_;
        if (!members_.empty() || !problem_.free_intercept) return;
        std::size_t missing[2] = {seeds, seeds};
        for (const RowNumber i : sequence.empty() ? order_ : sequence) {
            std::size_t& left = missing[problem_.hi[i] > 0];
            if (inside_[i] || problem_.most(i) == 0 || left == 0) continue;
            insert(i);
            --left;
        }
    }

    /// S is solved, up to tau.
    void go_on(const std::vector<RowNumber>& sequence) {
        double top = problem_.free_intercept ? -infinity : 0, bottom = -top;
        const std::vector<double>& f = responses_.all();
        for (std::size_t i = 0; i < n_; ++i) {
            const double slope = problem_.t[i] - f[i];
            if (beta_[i] < problem_.hi[i]) top = std::max(top, slope);
            if (beta_[i] > problem_.lo[i]) bottom = std::min(bottom, slope);
        }
        if (violation(top, bottom) > tau_)
            begin_pass(sequence);
        else
            tau_ /= 10;
    }

    /// A stretch of visits; true when the time is up.
    bool visit_some(std::uint64_t visits, const std::vector<RowNumber>& sequence) {
        const std::size_t count = std::min<std::uint64_t>(stretch, visits - next_), k = candidates();
        std::vector<RowNumber> some(count * k);
        if (!sequence.empty())
            std::copy_n(sequence.begin() + static_cast<std::ptrdiff_t>(next_ * k), count * k, some.begin());
        else if (k == 1)
            std::copy_n(order_.begin() + static_cast<std::ptrdiff_t>(next_), count, some.begin());
        else
            for (RowNumber& one : some) one = static_cast<RowNumber>(random_.below(n_));
        if (k == 1) expect(some);
        bool late = false;
        for (std::size_t first = 0; first < some.size() && !late && !is_spent(); first += k) {
            process(chosen(std::span<const RowNumber>(some).subspan(first, k)));
            reprocess();
            tell();
            ++next_;
            ++turns_;
            late = context_.monitor.worked(16 + 4 * members_.size());
        }
        responses_.all();
        context_.monitor.at_epoch(epochs());
        return late;
    }

    /// Steps of the finish, as many as there are examples; true when the time is up.
    bool finish_some() {
        bool late = false;
        for (std::size_t k = 0; k < n_ && !late && !is_spent() && delta() > tau_; ++k) {
            reprocess();
            ++turns_;
            late = context_.monitor.worked(16 + 4 * members_.size());
        }
        tell();
        responses_.all();
        context_.monitor.at_epoch(epochs());
        return late;
    }

    double slope(RowNumber i) const { return problem_.t[i] - responses_[i]; }

    /// The candidate to visit: of those outside of S the one with the largest loss, or the one nearest to the
    /// border of the classes.
    RowNumber chosen(std::span<const RowNumber> some) const {
        if (some.size() == 1) return some[0];
        const double b = problem_.free_intercept && std::isfinite(delta()) ? (top_ + bottom_) / 2 : 0;
        RowNumber best = some[0];
        double most = -infinity;
        for (const RowNumber i : some) {
            if (inside_[i] || problem_.most(i) == 0) continue;
            const double response = responses_[i] + b;
            const double value =
                options_.selection == Selection::active ? -std::abs(response) : -problem_.t[i] * response;
            if (value <= most) continue;
            most = value;
            best = i;
        }
        return best;
    }

    /// Fetches the rows of visits that would move something now.
    void expect(std::span<const RowNumber> visits) {
        std::vector<RowNumber> wanted;
        for (const RowNumber k : visits) {
            if (inside_[k] || std::find(wanted.begin(), wanted.end(), k) != wanted.end()) continue;
            const bool grows = problem_.hi[k] > 0;
            const double difference = slope(k) - partner(grows);
            if ((grows ? difference : -difference) > tau_) wanted.push_back(k);
        }
        responses_.expect(wanted);
    }

    void insert(RowNumber i) {
        members_.push_back(i);
        u_.push_back(slope(i));
        up_.push_back(problem_.hi[i] - beta_[i]);
        down_.push_back(beta_[i] - problem_.lo[i]);
        inside_[i] = 1;
        const double own = u_.back();
        if (up_.back() > 0) top_ = std::max(top_, own);
        if (down_.back() > 0) bottom_ = std::min(bottom_, own);
    }

    void process(RowNumber k) {
        if (inside_[k] || problem_.most(k) == 0) return;
        const bool grows = problem_.hi[k] > 0;
        const double other = partner(grows);
        insert(k);
        const std::size_t own = members_.size() - 1;
        if (!((grows ? u_[own] - other : other - u_[own]) > tau_) || std::isinf(other)) return;
        const std::size_t paired = !problem_.free_intercept ? own : find(grows ? down_ : up_, other);
        if (paired == members_.size()) return;
        if (!problem_.free_intercept)
            step_of(own);
        else if (grows)
            step_of(own, paired);
        else
            step_of(paired, own);
    }

    void reprocess() {
        if (!(delta() > tau_)) return;
        const bool pairs = problem_.free_intercept, grows = pairs || top_ >= -bottom_;
        const std::size_t first = grows ? find(up_, top_) : find(down_, bottom_),
                          second = pairs ? find(down_, bottom_) : first;
        overflowed_ = std::max(first, second) == members_.size();
        if (overflowed_) return;
        if (pairs)
            step_of(first, second);
        else
            step_of(first);
        remove_idle();
    }

    double delta() const { return violation(top_, bottom_); }
    double violation(double top, double bottom) const {
        return problem_.free_intercept ? top - bottom : std::max(top, -bottom);
    }
    /// Of the slopes that an example outside of S would be paired with.
    double partner(bool grows) const { return !problem_.free_intercept ? 0 : grows ? bottom_ : top_; }

    /// The first member with room on a side that has this slope; as many as there are where none has, since
    /// it overflowed. A step between the bounds leaves two with the same slope, but for rounding, which is
    /// not to decide.
    std::size_t find(const std::vector<double>& room, double slope) const {
        std::size_t s = 0;
        while (s < members_.size() && !(room[s] > 0 && std::abs(u_[s] - slope) <= tie)) ++s;
        return s;
    }

    void step_of(std::size_t p, std::size_t q) {
        const RowNumber pair[2] = {members_[p], members_[q]};
        const Real* rows[2];
        gram_.rows(pair, rows);
        const double curvature = std::max(
            gram_.diagonal(pair[0]) + gram_.diagonal(pair[1]) - 2 * static_cast<double>(rows[0][pair[1]]),
            tiny);
        const double lambda = std::min({(u_[p] - u_[q]) / curvature, up_[p], down_[q]});
        move(p, lambda);
        move(q, -lambda);
        ++steps_;
        const std::size_t m = members_.size();
        for (std::size_t s = 0; s < m; ++s)
            u_[s] -= lambda *
                     (static_cast<double>(rows[0][members_[s]]) - static_cast<double>(rows[1][members_[s]]));
        find_extremes();
    }

    void step_of(std::size_t p) {
        const RowNumber i = members_[p];
        const Real* row = gram_.row(i);
        const double lambda = std::clamp(u_[p] / std::max(gram_.diagonal(i), tiny), -down_[p], up_[p]);
        move(p, lambda);
        ++steps_;
        for (std::size_t s = 0; s < members_.size(); ++s)
            u_[s] -= lambda * static_cast<double>(row[members_[s]]);
        find_extremes();
    }

    /// To a bound exactly, where it gets there.
    void move(std::size_t s, double by) {
        const RowNumber i = members_[s];
        if (change_[i] == 0) changed_.push_back(i);
        change_[i] += by;
        beta_[i] = by >= up_[s] ? problem_.hi[i] : -by >= down_[s] ? problem_.lo[i] : beta_[i] + by;
        up_[s] = problem_.hi[i] - beta_[i];
        down_[s] = beta_[i] - problem_.lo[i];
    }

    /// The largest slope of a member that may grow, the smallest of one that may shrink.
    void find_extremes() {
        double top = problem_.free_intercept ? -infinity : 0, bottom = -top;
        const double *u = u_.data(), *up = up_.data(), *down = down_.data();
        const std::size_t m = members_.size();
#pragma omp simd reduction(max : top) reduction(min : bottom)
        for (std::size_t s = 0; s < m; ++s) {
            const double grows = up[s] > 0 ? u[s] : -infinity, shrinks = down[s] > 0 ? u[s] : infinity;
            top = grows > top ? grows : top;
            bottom = shrinks < bottom ? shrinks : bottom;
        }
        top_ = top;
        bottom_ = bottom;
    }

    /// Members with beta = 0 that no step wants leave. They are not those that the extremes belong to, unless
    /// nothing violates at all.
    void remove_idle() {
        const double above = partner(false), below = partner(true);
        const std::size_t m = members_.size();
        std::size_t kept = 0;
        for (std::size_t s = 0; s < m; ++s) {
            const RowNumber i = members_[s];
            const bool idle = beta_[i] == 0 && (problem_.hi[i] > 0 ? u_[s] <= below : u_[s] >= above);
            if (idle) {
                inside_[i] = 0;
                continue;
            }
            if (kept < s) {
                members_[kept] = i;
                u_[kept] = u_[s];
                up_[kept] = up_[s];
                down_[kept] = down_[s];
            }
            ++kept;
        }
        if (kept == m) return;
        for (auto* own : {&u_, &up_, &down_}) own->resize(kept);
        members_.resize(kept);
        find_extremes();
    }

    /// Hands the changes on to the responses of all.
    void tell() {
        for (const RowNumber i : changed_) {
            if (change_[i] != 0) responses_.add(i, change_[i]);
            change_[i] = 0;
        }
        changed_.clear();
    }

    /// The slopes of S, without what rounding has added in many steps.
    void refresh() {
        for (std::size_t s = 0; s < members_.size(); ++s) u_[s] = slope(members_[s]);
        find_extremes();
    }

    const KernelProblem& problem_;
    const std::size_t n_;
    Gram<Real>& gram_;
    const LasvmOptions options_;
    Context& context_;
    Random random_;
    Responses<Real> responses_;
    double tau_;
    std::vector<double> beta_, change_;  // change: not yet in the responses
    std::vector<RowNumber> changed_;
    std::vector<RowNumber> members_;  // S, with slopes and how far each may grow and shrink
    std::vector<double> u_, up_, down_;
    double top_ = problem_.free_intercept ? -infinity : 0, bottom_ = -top_;
    std::vector<std::uint8_t> inside_;  // whether an example is in S
    std::vector<RowNumber> order_;
    std::uint64_t next_ = 0, turns_ = 0, steps_ = 0, passes_ = 0;
    bool online_ = true, overflowed_ = false;
};

}  // namespace

KernelSolution solve_lasvm(const KernelTask& task, const LasvmOptions& options,
                           const std::vector<double>& start, const std::vector<RowNumber>& sequence) {
    return task.with_gram([&]<class Real>(Gram<Real>& gram) {
        return Lasvm<Real>(task.problem, gram, options, task.context).run(start, sequence);
    });
}

}  // namespace pegasos
