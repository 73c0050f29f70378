// Pegasos and the Perceptron in the space of a kernel, without an intercept: w = a sum_j c_j phi(x_j), all
// responses kept, so that a visit costs a row of the kernel only when w changes.
//
// Pegasos (S0 Fig. 3, S1 section 1.1), step t, with a batch A of k examples, row i counted m s_i / sum(s)
// times:
//     A+ = {i in A: y_i <w_t, phi(x_i)> < 1}
//     w_{t+1} = (1 - 1/t) w_t + 1/(lambda t k) sum_{i in A+} (m s_i / sum(s)) y_i phi(x_i),
// and, with projection, the nearest point of the ball ||w|| <= 1/sqrt(lambda). S0's figure divides by lambda
// t in the test where w_t has t - 1; this is the linear algorithm, step by step.
//
// Perceptron (S4 section 4.5): y_i <w, phi(x_i)> <= 0 adds s_i y_i phi(x_i).
//
// What is looked at, and returned: the last w; the mean of all, or of the last half to three quarters of
// them; or one of them at random (S4's online-to-batch conversions). With `best` it is the best that was
// looked at.
#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "kernel/responses.hpp"
#include "kernel/solvers/solve.hpp"

namespace pegasos {
namespace {

template <class Real>
class KernelWalk {
public:
    /// `labels` and `counts` (m s_i / sum(s), or s_i for the Perceptron) are by example.
    KernelWalk(const KernelProblem& problem, const std::vector<double>& labels,
               const std::vector<double>& counts, Gram<Real>& gram, const KernelWalkOptions& options,
               Sampler& sampler, const HoldOut& held_out, Context& context)
        : problem_(problem),
          labels_(labels),
          counts_(counts),
          gram_(gram),
          options_(options),
          sampler_(sampler),
          context_(context),
          checks_(problem, gram, options.tol, held_out, context),
          g_(gram),
          earlier_(gram) {}

    KernelSolution run() {
        KernelSolution solution;
        const std::size_t n = problem_.size(), k = options_.batch;
        Random random(options_.seed ^ 0x5eed);
        const std::uint64_t chosen = random.below(options_.max_steps);  // the iterate of WalkOutput::random
        std::vector<RowNumber> visits(std::max(k, stretch / k * k));
        double next_check = 1;
        bool stop = false;
        const auto state = [&](State& state) {
            state(solution, next_check);
            pass_state(state);
        };
        context_.resume(state);
        until_ended(solution, [&] {
            while (!stop) {
                context_.offer(state);
                const std::uint64_t left = options_.max_steps - t_;
                const std::size_t count = std::min<std::uint64_t>(visits.size(), left * k);
                const auto part = std::span<RowNumber>(visits).first(count);
                sampler_.fill(part);
                expect(part);
                for (std::size_t first = 0; first < count; first += k) {
                    if (t_ == chosen && options_.output == WalkOutput::random) keep();
                    count_iterate();
                    step(part.subspan(first, k));
                    if (options_.output == WalkOutput::suffix && t_ == snapshot_at_) take_snapshot();
                }
                const double epochs =
                    static_cast<double>(t_) * static_cast<double>(k) / static_cast<double>(n);
                context_.monitor.at_epoch(epochs);
                const bool last = t_ >= options_.max_steps;
                stop = context_.monitor.worked(count * 16) || last;
                if (!stop && epochs < next_check) continue;
                while (next_check <= epochs)
                    next_check = checks_.holds_out() ? next_check + 1 : 2 * next_check;
                find_output();
                stop |= checks_.check(beta_, f_, error(), 0, epochs, last, !options_.best, solution);
            }
        });
        checks_.finish(solution);
        solution.steps = t_;
        solution.updates = updates_;
        return solution;
    }

private:
    static constexpr std::size_t stretch = Responses<Real>::stretch;

    void pass_state(State& state) {
        state(sampler_, checks_, scale_, squared_norm_, mass_, rounded_, t_, iterates_, updates_, kept_,
              snapshot_at_, snapshots_[0], snapshots_[1], beta_, f_, g_, earlier_, gram_);
    }

    double response(std::size_t i) const { return scale_ * g_[i]; }
    bool errs(std::size_t i) const {
        return options_.perceptron ? labels_[i] * response(i) <= 0 : labels_[i] * response(i) < 1;
    }

    /// Fetches the rows of visits that would change w now.
    void expect(std::span<const RowNumber> visits) {
        expected_.clear();
        for (const RowNumber i : visits)
            if (errs(i) && expected_.size() < stretch) expected_.push_back(i);
        g_.expect(expected_);
    }

    void step(std::span<const RowNumber> batch) {
        ++t_;
        adding_.clear();
        for (const RowNumber i : batch)
            if (errs(i)) adding_.push_back(i);
        if (options_.perceptron) {
            for (const RowNumber i : adding_) add(i, counts_[i] * labels_[i]);
            return;
        }
        const double t = static_cast<double>(t_);
        shrink(1 - 1 / t);
        const double size = 1 / (options_.lambda * t * static_cast<double>(batch.size()));
        for (const RowNumber i : adding_) add(i, size * counts_[i] * labels_[i]);
        if (options_.project && squared_norm_ * options_.lambda > 1) {
            const double factor = 1 / std::sqrt(squared_norm_ * options_.lambda);
            shrink(factor);
        }
    }

    void shrink(double factor) {
        if (factor == 0) {  // the first step: what was there is gone
            g_.reset();
            earlier_.reset();
            scale_ = 1;
            squared_norm_ = mass_ = rounded_ = 0;
            return;
        }
        scale_ *= factor;
        squared_norm_ *= factor * factor;
        if (scale_ < 1e-6) settle();
    }

    /// As the scale falls, the coefficients grow, and the sum of the iterates is a small difference of large
    /// numbers: both are put down anew, with a scale of 1.
    void settle() {
        if (averages()) {
            rounded_ += steps_rounding() * sum_of_sizes();
            earlier_.add(g_, -mass_);
        }
        g_.scale(scale_);
        scale_ = 1;
        mass_ = 0;
    }

    void add(RowNumber i, double step) {
        ++updates_;
        squared_norm_ += step * (2 * response(i) + step * gram_.diagonal(i));
        g_.add(i, step / scale_);
        if (averages()) earlier_.add(i, mass_ * step / scale_);
    }

    // The sum of the iterates a_t c_t is mass c - earlier: a change of c was missing from those before it.
    bool averages() const {
        return options_.output == WalkOutput::average || options_.output == WalkOutput::suffix;
    }
    void count_iterate() {
        mass_ += scale_;
        ++iterates_;
    }

    struct Iterates {
        std::uint64_t count = 0;
        std::vector<double> c, g;  // sums

        void state(State& state) { state(count, c, g); }
    };
    Iterates sum_of_iterates() {
        Iterates sum{iterates_, g_.c, g_.all()};
        const std::vector<double>& missing = earlier_.all();
        for (std::size_t i = 0; i < sum.c.size(); ++i) {
            sum.c[i] = mass_ * sum.c[i] - earlier_.c[i];
            sum.g[i] = mass_ * sum.g[i] - missing[i];
        }
        return sum;
    }

    /// Where the last half to three quarters of the iterates begin: the largest power of two h with 2h <= t.
    void take_snapshot() {
        snapshots_[0] = std::move(snapshots_[1]);
        snapshots_[1] = sum_of_iterates();
        snapshot_at_ *= 2;
    }

    void keep() {
        const std::vector<double>& g = g_.all();
        beta_.resize(g.size());
        f_.resize(g.size());
        for (std::size_t i = 0; i < g.size(); ++i) {
            beta_[i] = scale_ * g_.c[i];
            f_[i] = scale_ * g[i];
        }
        kept_ = true;
    }

    /// Of the responses f_ to beta_: the matrix is off, and so are the sums that many steps went into. All
    /// steps of a row have its label's sign, so that their sizes add up to its coefficient's.
    double error() const {
        double size = 0;
        for (const double own : beta_) size += std::abs(own);
        double rounded = steps_rounding() * size;
        if (averages())  // of at least half of the iterates
            rounded += 2 * (rounded_ + 2 * steps_rounding() * sum_of_sizes()) /
                       static_cast<double>(std::max<std::uint64_t>(iterates_, 1));
        return size * gram_.source().error() + rounded * gram_.source().largest();
    }
    double steps_rounding() const { return 8 * (static_cast<double>(updates_) + 64) * unit; }
    /// Of what the sum of the iterates is the difference.
    double sum_of_sizes() const {
        double sum = 0;
        for (const double own : g_.c) sum += mass_ * std::abs(own);
        for (const double own : earlier_.c) sum += std::abs(own);
        return sum;
    }

    void find_output() {
        if (options_.output == WalkOutput::random && kept_) return;
        if (!averages() || iterates_ == 0) return keep();
        Iterates sum = sum_of_iterates(), none;
        const Iterates* before = &none;
        for (const Iterates& snapshot : snapshots_)
            if (snapshot.count > 0 && 2 * snapshot.count <= iterates_) before = &snapshot;
        const double count = static_cast<double>(iterates_ - before->count);
        beta_.resize(sum.c.size());
        f_.resize(sum.c.size());
        for (std::size_t i = 0; i < sum.c.size(); ++i) {
            beta_[i] = (sum.c[i] - (before->count ? before->c[i] : 0)) / count;
            f_[i] = (sum.g[i] - (before->count ? before->g[i] : 0)) / count;
        }
    }

    const KernelProblem& problem_;
    const std::vector<double>&labels_, &counts_;
    Gram<Real>& gram_;
    const KernelWalkOptions options_;
    Sampler& sampler_;
    Context& context_;
    KernelChecks<Real> checks_;
    Responses<Real> g_, earlier_;
    double scale_ = 1, squared_norm_ = 0, mass_ = 0, rounded_ = 0;
    std::uint64_t t_ = 0, iterates_ = 0, updates_ = 0;
    bool kept_ = false;
    std::uint64_t snapshot_at_ = 1;
    Iterates snapshots_[2];
    std::vector<double> beta_, f_;
    std::vector<RowNumber> expected_, adding_;
};

}  // namespace

KernelSolution solve_walk(const KernelTask& task, const KernelWalkOptions& options, const Labelled& examples,
                          Sampler& sampler, const HoldOut& held_out) {
    return task.with_gram([&]<class Real>(Gram<Real>& gram) {
        return KernelWalk<Real>(task.problem, examples.labels, examples.weights, gram, options, sampler,
                                held_out, task.context)
            .run();
    });
}

}  // namespace pegasos
