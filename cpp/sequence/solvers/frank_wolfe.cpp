// Block-coordinate Frank-Wolfe in pairs for chains of labels: dual ascent, one sequence at a time
// (sequence_dual.hpp has the dual and the step).
//
// Epochs visit the sequences in a new random order; those that added next to nothing to the gap rest for some
// epochs. Threads share the work of the checks. They have none between: sequences share the weights of their
// links and of common features, and several at a time, at weights that do not know of each other, took up to
// three times the epochs.
//
// The gaps met at the visits add up to an estimate of the gap. When it is small enough, and now and then, a
// check makes sure: the weights are summed afresh from the vertices, all sequences are decoded at them, and
// both values computed in double precision.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <variant>

#include "base/checks.hpp"
#include "linear/visits.hpp"
#include "sequence/rounding.hpp"
#include "sequence/sequence_dual.hpp"
#include "sequence/solvers/solve.hpp"

namespace pegasos {

namespace {

class FrankWolfe {
public:
    FrankWolfe(const SequenceProblem& problem, const SequenceFrankWolfeOptions& options, Context& context)
        : problem_(problem),
          options_(options),
          context_(context),
          visits_(problem.n_sequences(), false, options.seed),
          vertices_(problem.n_sequences()),
          quiet_(problem.n_sequences()),
          W_(make_weights(problem, options)),
          exact_(problem.dimension(), problem.n_labels()),
          links_(problem.barriers),
          numbers_(problem),
          rounding_(problem) {
        for (std::size_t k = 0; k < context.team.size(); ++k) duals_.emplace_back(problem, numbers_);
        for (std::size_t i = 0; i < problem.n_sequences(); ++i) {
            if (problem.length(i) == 0 || problem.weights[i] == 0)
                visits_.leave_out(i);
            else
                ++n_visited_;
            const auto right = problem.right(i);
            vertices_[i].push_back({{right.begin(), right.end()}, 0, 1});
        }
    }

    SequenceSolution run(const SequenceVertices& start) {
        const std::vector<RowNumber>& sequence = options_.sequence;
        Solution solution;
        if (!start.owners.empty()) {
            begin_at(start);
            look(solution, false, false);
        }
        const auto state = [&](State& state) {
            state(solution);
            pass_state(state);
        };
        context_.resume(state);
        until_ended(solution, [&] {
            while (solution.reason.empty()) {
                context_.offer(state);
                const bool alive = make_epoch();
                visits_.end_epoch();
                const bool last = !sequence.empty() || epochs() >= options_.max_epochs;
                checks_.met(estimate_);
                if (alive && !last && !checks_.due(std::max(dual_, 0.0)) && moved_) continue;
                look(solution, !alive, last);
            }
        });
        solution.steps = visited_;
        solution.seconds = context_.monitor.seconds();
        return {std::move(best_weights_), std::move(best_links_), std::move(solution), take_vertices()};
    }

private:
    /// In which visits work: in single precision that halves what is read.
    using Weights = std::variant<ClassMatrix<float>, ClassMatrix<double>>;

    static Weights make_weights(const SequenceProblem& problem, const SequenceFrankWolfeOptions& options) {
        if (options.tol >= coarse) return ClassMatrix<float>(problem.dimension(), problem.n_labels());
        return ClassMatrix<double>(problem.dimension(), problem.n_labels());
    }

    /// Between two epochs.
    void pass_state(State& state) {
        state(visits_, vertices_, best_weights_, best_links_, visited_, dual_, small_, estimate_, least_,
              highest_, stuck_, moved_, complete_, checks_);
        if (state.reads()) check_vertices();
        state.array(quiet_.data(), quiet_.size());
        state.array(links_.values().data(), links_.values().size());
        std::visit([&](auto& W) { state.array(W.values().data(), W.values().size()); }, W_);
    }

    /// Each sequence has some, of its length, with labels that there are.
    void check_vertices() const {
        if (vertices_.size() != problem_.n_sequences()) State::refuse();
        for (std::size_t i = 0; i < vertices_.size(); ++i) {
            if (vertices_[i].empty()) State::refuse();
            for (const Vertex& vertex : vertices_[i])
                if (vertex.labels.size() != problem_.length(i) ||
                    std::any_of(vertex.labels.begin(), vertex.labels.end(),
                                [&](Label label) { return label >= problem_.n_labels(); }))
                    State::refuse();
        }
    }

    double epochs() const {
        return static_cast<double>(visited_) / static_cast<double>(problem_.n_sequences());
    }

    /// A check, and what follows from it.
    void look(Solution& solution, bool out_of_time, bool last) {
        solution.epochs = epochs();
        if (solution.take(context_, epochs(), check()).w) {
            best_weights_ = exact_.flat();
            best_links_ = links_.flat();
        }
        solution.tell(context_, [this] {
            std::vector<double> all = best_weights_;
            all.insert(all.end(), best_links_.begin(), best_links_.end());
            return all;
        });
        if (!solution.reason.empty()) return;
        // Checks are ever further apart, so that a few of them without progress are many epochs.
        const bool better = estimate_ < 0.9 * least_ || dual_ > highest_ + 1e-14 * std::abs(highest_);
        stuck_ = better ? 0 : stuck_ + 1;
        least_ = std::min(least_, estimate_);
        highest_ = std::max(highest_, dual_);
        if (!solution.ends(options_.tol, out_of_time, last) && ((!moved_ && complete_) || stuck_ > 2))
            solution.reason = "precision";
    }

    void begin_at(const SequenceVertices& start) {
        std::size_t at = 0;
        for (auto& own : vertices_) own[0].share = 0;
        for (std::size_t v = 0; v < start.owners.size(); ++v) {
            const std::size_t i = start.owners[v], length = problem_.length(i);
            const auto first = start.labels.begin() + static_cast<std::ptrdiff_t>(at);
            const std::vector<Label> labels(first, first + static_cast<std::ptrdiff_t>(length));
            at += length;
            if (labels == vertices_[i][0].labels)
                vertices_[i][0].share += start.shares[v];
            else
                vertices_[i].push_back({labels, problem_.cost_of(i, labels), start.shares[v]});
        }
        for (auto& own : vertices_) normalise(own);
    }

    /// Shares are at least zero and sum to one; the vertices without any are dropped.
    static void normalise(std::vector<Vertex>& own) {
        double total = 0;
        for (Vertex& vertex : own) total += vertex.share = std::max(vertex.share, 0.0);
        if (total > 0)
            for (Vertex& vertex : own) vertex.share /= total;
        else
            own[0].share = 1;
        std::erase_if(own, [](const Vertex& vertex) { return vertex.share == 0; });
    }

    /// False when the time is up.
    bool make_epoch() {
        const double n = static_cast<double>(problem_.n_sequences());
        visits_.make_order(options_.sequence, (options_.max_epochs - epochs()) * n);
        const std::vector<RowNumber>& order = visits_.order();
        complete_ = order.size() == n_visited_;
        // What a sequence may add to the gap and yet rest.
        small_ = 0.1 * std::max(options_.tol * std::max(dual_, 0.0), 0.1 * estimate_) / n;
        double met = 0;
        moved_ = false;
        for (const RowNumber i : order) {
            context_.monitor.at_epoch(epochs());
            met += visit(i);
            ++visited_;
            if (context_.monitor.worked(problem_.length(i) * links_.n_labels() * (8 + links_.n_labels()) / 8))
                return false;
        }
        estimate_ = met;
        return true;
    }

    /// Ascends on a sequence; returns the gap it met.
    double visit(std::size_t i) {
        std::visit([&](const auto& W) { duals_[0].take(i, W); }, W_);
        duals_[0].visit(links_, options_.decodings, vertices_[i], move_);
        const double gap = problem_.C * problem_.weights[i] * move_.gap;
        quiet_[i] = gap <= small_ ? quiet_[i] + 1 : 0;
        if (quiet_[i] > 1) visits_.rest(i, std::min(quiet_[i], 8u));
        moved_ |= move_.moved;
        dual_ += move_.gain;
        const auto add = [&](const auto& rows, auto& W) {
            for (const auto& [t, begin, end] : move_.positions)
                W.add(rows, problem_.start(i) + t, 1,
                      std::span<const ClassChange>(move_.changes).subspan(begin, end - begin));
        };
        problem_.rows.visit([&](const auto& rows) { std::visit([&](auto& W) { add(rows, W); }, W_); });
        return gap;
    }

    /// How far the weights and the sum of the costs of a check are from those of the vertices, were their
    /// shares to sum to one and nothing rounded.
    struct Errors {
        double weights, costs;
    };

    /// The weights, from the vertices alone. Those of features are plain sums: each addition is off by a unit
    /// of the sum so far, which is at most that of the sizes of its terms, `features`. Those of links are
    /// few, so that their sums can be compensated, in which the sequences' common labels cancel.
    Errors sum_weights() {
        std::fill(exact_.values().begin(), exact_.values().end(), 0.0);
        std::vector<double> change(links_.stride());
        std::vector<Sum> links(links_.size());
        double features = 0, spread = 0, all_links = 0;  // the sums of the sizes of what is added
        double terms = 0, most = 1;                      // of links; the most vertices of a sequence
        for (std::size_t i = 0; i < vertices_.size(); ++i) {
            if (vertices_[i].size() == 1 && vertices_[i][0].cost == 0) continue;
            normalise(vertices_[i]);
            const double c = problem_.C * problem_.weights[i];
            const auto right = problem_.right(i);
            problem_.rows.visit([&](const auto& rows) {
                for (std::size_t t = 0; t < right.size(); ++t) {
                    double moved = 0;
                    std::fill(change.begin(), change.end(), 0.0);
                    for (const Vertex& vertex : vertices_[i])
                        if (vertex.labels[t] != right[t]) {
                            change[vertex.labels[t]] -= vertex.share;
                            change[right[t]] += vertex.share;
                            moved += vertex.share;
                        }
                    if (moved == 0) continue;
                    exact_.add_nonzero(rows, problem_.start(i) + t, c, change.data());
                    features += std::sqrt(2.0) * c * moved * rounding_.norm(problem_.start(i) + t);
                    spread += features;
                }
            });
            for (const Vertex& vertex : vertices_[i]) {
                const auto add = [&](double amount) {
                    return [this, amount, &links](std::size_t place) {
                        if (problem_.learns(place)) links[place].add(amount);
                    };
                };
                links_.for_each(right, add(c * vertex.share));
                links_.for_each(vertex.labels, add(-c * vertex.share));
            }
            const double vertices = static_cast<double>(vertices_[i].size());
            const double ends = 2 * static_cast<double>(right.size() + 1);
            most = std::max(most, vertices);
            terms += vertices * ends;
            all_links += c * ends;
        }
        for (std::size_t place = 0; place < links.size(); ++place)
            links_[place] = problem_.barriers[place] + links[place].value();
        std::visit(
            [&](auto& W) { std::copy(exact_.values().begin(), exact_.values().end(), W.values().begin()); },
            W_);
        const double shares = 2 * most + 8;  // a share, and the sum of some, is off by as many u of itself
        return {unit * (rounding_.repeats() * spread + shares * features) +
                    (unit * shares + SequenceRounding::of_sum(terms)) * all_links,
                unit * (rounding_.longest() + shares)};
    }

    /// Bounds at the weights of the vertices; these are then the weights. Sequences that add to the gap wake
    /// up.
    Bounds check() {
        const Errors errors = sum_weights();
        const SequenceSizes sizes = sizes_of(exact_, problem_.dimension(), links_);
        Sum linear, loss, gaps;
        const std::size_t n = problem_.n_sequences();
        std::vector<SequenceDual::Values> values(n);
        context_.team.run([&](std::size_t worker) {
            for (std::size_t i = worker; i < n && !context_.team.failed(); i += context_.team.size()) {
                duals_[worker].take(i, exact_);
                values[i] = duals_[worker].evaluate(links_, vertices_[i]);
                if (worker == 0) context_.monitor.worked(problem_.length(i) * links_.stride() * 8);
            }
        });
        for (std::size_t i = 0; i < n; ++i) {
            const double c = problem_.C * problem_.weights[i];
            loss.add(c * values[i].loss);
            gaps.add(c * values[i].gap);
            for (const Vertex& vertex : vertices_[i]) linear.add(c * vertex.share * vertex.cost);
            if (visits_.rests(i) && c * values[i].gap > small_) {
                visits_.wake(i);
                quiet_[i] = 0;
            }
        }
        dual_ = linear.value() - sizes.square / 2;
        estimate_ = gaps.value();
        Bounds bounds{};
        rounding_.bound_primal(sizes, loss.value(), bounds);
        rounding_.bound_dual(sizes, linear.value(), errors.costs * linear.value(), errors.weights, bounds);
        return bounds;
    }

    SequenceVertices take_vertices() const {
        SequenceVertices all;
        for (std::size_t i = 0; i < vertices_.size(); ++i)
            for (const Vertex& vertex : vertices_[i]) {
                all.owners.push_back(static_cast<std::uint32_t>(i));
                all.shares.push_back(vertex.share);
                all.labels.insert(all.labels.end(), vertex.labels.begin(), vertex.labels.end());
            }
        return all;
    }

    const SequenceProblem& problem_;
    const SequenceFrankWolfeOptions options_;
    Context& context_;
    Visits visits_;
    std::vector<std::vector<Vertex>> vertices_;
    std::vector<std::uint32_t> quiet_;  // visits in a row that met next to no gap
    Weights W_;
    ClassMatrix<double> exact_;
    Links links_;
    std::vector<double> best_weights_, best_links_;
    const LocalNumbers numbers_;
    const SequenceRounding rounding_;
    std::vector<SequenceDual> duals_;
    SequenceMove move_;
    std::size_t n_visited_ = 0;  // sequences that have something to learn from
    std::uint64_t visited_ = 0;
    double dual_ = 0, small_ = 0;
    double estimate_ = std::numeric_limits<double>::infinity(), least_ = estimate_;  // of the gap
    double highest_ = 0;                                                             // dual value
    int stuck_ = 0;  // checks in a row that found neither better
    bool moved_ = false, complete_ = false;
    // Checks come after 8 epochs and then ever more rarely, or where the gaps met, and a quarter, promise
    // tol.
    Checks checks_{options_.tol, 1.25, 8, false};
};

}  // namespace

SequenceSolution solve_sequence_frank_wolfe(const SequenceProblem& problem,
                                            const SequenceFrankWolfeOptions& options,
                                            const SequenceVertices& start, Context& context) {
    return FrankWolfe(problem, options, context).run(start);
}

}  // namespace pegasos
