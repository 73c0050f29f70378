// Stochastic dual coordinate ascent in the space of a kernel, responses kept, without an intercept
// (problem.hpp has the symbols). A visit of a variable maximises D along it:
//
//     beta_v <- clamp(beta_v + u_v / K_ii, lo_v, hi_v).
//
// Epochs visit all variables in a new random order. Bounds cost no kernel at all, as all responses are at
// hand.
#include "base/random.hpp"
#include "kernel/responses.hpp"
#include "kernel/solvers/solve.hpp"

namespace pegasos {
namespace {

template <class Real>
class KernelSdca {
public:
    KernelSdca(const KernelProblem& problem, Gram<Real>& gram, const KernelSdcaOptions& options,
               Context& context)
        : problem_(problem),
          gram_(gram),
          options_(options),
          context_(context),
          responses_(gram),
          beta_(problem.size()) {}

    /// With a sequence, its visits once.
    KernelSolution run(const std::vector<double>& start, const std::vector<RowNumber>& sequence) {
        if (!start.empty()) begin_at(start);
        KernelSolution solution;
        BestOfDual<Real> best(problem_, gram_);
        Random random(options_.seed);
        std::vector<RowNumber> order(problem_.size());
        std::iota(order.begin(), order.end(), RowNumber{0});
        const double per_epoch = static_cast<double>(problem_.size());
        double visits = 0;
        const auto state = [&](State& state) {
            state(solution, best, random, visits, updates_, responses_, gram_);
            state.array(order.data(), order.size());
            state.array(beta_.data(), beta_.size());
        };
        context_.resume(state);
        until_ended(solution, [&] {
            for (;;) {
                context_.offer(state);
                if (sequence.empty())
                    shuffle(order, random);
                else
                    order = sequence;
                bool moved = false, complete = true;
                for (std::size_t first = 0; first < order.size() && complete;
                     first += Responses<Real>::stretch) {
                    const auto part = std::span<const RowNumber>(order).subspan(
                        first, std::min(Responses<Real>::stretch, order.size() - first));
                    moved |= visit(part);
                    visits += static_cast<double>(part.size());
                    context_.monitor.at_epoch(visits / per_epoch);
                    complete = !context_.monitor.worked(part.size() * 16);
                }
                solution.epochs = visits / per_epoch;
                const KernelBounds now = best.look(beta_, responses_.all(), solution, context_);
                if (!solution.reason.empty()) break;
                if (options_.tol > 0 && now.plain.gap() <= options_.tol)
                    solution.reason = "tol";
                else if (!complete)
                    solution.reason = "max_time";
                else if (!sequence.empty() || visits >= options_.max_epochs * per_epoch)
                    solution.reason = "budget";
                else if (!moved)
                    solution.reason = "precision";
                if (!solution.reason.empty()) break;
            }
        });
        best.finish(solution);
        solution.steps = static_cast<std::uint64_t>(visits);
        solution.updates = updates_;
        solution.evaluations = gram_.evaluations();
        solution.seconds = context_.monitor.seconds();
        return solution;
    }

private:
    void begin_at(const std::vector<double>& start) {
        std::vector<double> by_row(problem_.n_rows);
        for (std::size_t v = 0; v < problem_.size(); ++v) {
            beta_[v] = std::clamp(start[v], problem_.lo[v], problem_.hi[v]);
            by_row[problem_.row[v]] += beta_[v];
        }
        responses_.assign(by_row);
    }

    double step(std::size_t v) const {
        const RowNumber i = problem_.row[v];
        const double slope = problem_.t[v] - responses_[i], curvature = std::max(gram_.diagonal(i), 1e-12);
        return std::clamp(beta_[v] + slope / curvature, problem_.lo[v], problem_.hi[v]) - beta_[v];
    }

    bool visit(std::span<const RowNumber> variables) {
        expected_.clear();
        for (const RowNumber v : variables)
            if (step(v) != 0) expected_.push_back(problem_.row[v]);
        responses_.expect(expected_);
        bool moved = false;
        for (const RowNumber v : variables) {
            const double change = step(v);
            if (change == 0) continue;
            moved = true;
            ++updates_;
            beta_[v] += change;
            responses_.add(problem_.row[v], change);
        }
        responses_.all();
        return moved;
    }

    const KernelProblem& problem_;
    Gram<Real>& gram_;
    const KernelSdcaOptions options_;
    Context& context_;
    Responses<Real> responses_;
    std::vector<double> beta_;
    std::vector<RowNumber> expected_;
    std::uint64_t updates_ = 0;
};

}  // namespace

KernelSolution solve_sdca_by_kernel(const KernelTask& task, const KernelSdcaOptions& options,
                                    const std::vector<double>& start,
                                    const std::vector<RowNumber>& sequence) {
    return task.with_gram([&]<class Real>(Gram<Real>& gram) {
        return KernelSdca<Real>(task.problem, gram, options, task.context).run(start, sequence);
    });
}

}  // namespace pegasos
