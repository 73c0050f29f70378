// clang-format off
// Pegasos on chains of labels (S0 section 5, example 5; chain.hpp has the symbols), with lambda = 1/(C S), S = sum_i s_i:
//
//   A_t       a batch of k sequences
//   y'_i    = argmax_y cost(y_i, y) + <w_t, phi(x_i, y)>       by decoding
//   w_{t+1} = (1 - 1/t) w_t + n/(lambda t k S) sum_{i in A_t} s_i (phi(x_i, y_i) - phi(x_i, y'_i))
//   w_{t+1} <- min(1, r / ||w_{t+1}||) w_{t+1}                 optional, r^2 = C sum_i s_i max_y cost(y_i, y) >= ||w*||^2
//
// Unrolled, w is a sum over the visits, in which a visit of sequence i counts C s_i n/(k t). So it belongs to a point of
// the dual (sequence_dual.hpp), times t k/n: the epochs, over the visits of the sequence visited most often, is a factor
// that makes it feasible, 1 after whole epochs. M, the sum of the costs met, is kept as w is, and with a factor c
//
//   D = c M - c^2/2 ||w||^2,    at the best c up to that one,
//
// is a lower bound on the optimum (S3's, for this loss). Projections shrink w and M alike.
//
// In double precision a step that shrinks w is off by at most 6 u R, u = 2^-53, and the addition of a term by u R and a
// few u of the term; R, the sum of the sizes of all terms, and the sum of these errors shrink as w does.
// clang-format on
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "classes/scaled_classes.hpp"
#include "sequence/rounding.hpp"
#include "sequence/solvers/solve.hpp"
#include "sequence/viterbi.hpp"

namespace pegasos {

namespace {

class Pegasos final : private Iterates {
public:
    Pegasos(const SequenceProblem& problem, const IterateOptions& options, Sampler& sampler, Context& context)
        : Iterates(options, problem.n_sequences(), sampler, context),
          problem_(problem),
          options_(options),
          W_(problem.dimension() + problem.n_labels() + 2, problem.n_labels(), options.project,
             is_mean(options.output)),
          output_(problem.dimension() + problem.n_labels() + 2, problem.n_labels()),
          link_rows_{problem.dimension()},
          links_(problem.barriers),
          workers_(context.team.size()),
          best_(options.batch),
          d_(links_.stride()),
          visits_(problem.n_sequences()),
          rounding_(problem) {
        Sum square;
        for (std::size_t i = 0; i < problem.n_sequences(); ++i) {
            double highest = 0;
            for (const Label label : problem.right(i))
                highest += *std::max_element(problem.costs(label), problem.costs(label) + problem.n_labels());
            square.add(problem.weights[i] * highest);
        }
        radius_ = std::sqrt(problem.C * square.value());
    }

    SequenceSolution run() {
        Solution solution = Iterates::run(options_.max_steps, "budget");
        solution.t = t_ - 1;
        std::vector<double> flat = flat_weights(solution.w);
        return {std::move(flat), links_.flat(), std::move(solution), {}};
    }

private:
    struct Worker {
        Viterbi viterbi;
        AlignedVector<double> scores;
    };

    /// Those of the scaled or plain matrix.
    template <class Scorer>
    void take_links(const Scorer& W) {
        for (std::size_t j = 0; j < problem_.n_labels() + 2; ++j) {
            W.scores(link_rows_, j, links_.row(j));
            const double* barrier = problem_.barriers.row(j);
            for (std::size_t k = 0; k < links_.stride(); ++k) links_.row(j)[k] += barrier[k];
        }
    }

    /// Those of the features; the links are then those that go with them.
    std::vector<double> flat_weights(const std::vector<double>& w) {
        std::vector<double> flat = output_.from(w).flat();
        flat.resize(problem_.dimension() * problem_.n_labels());
        take_links(output_);
        return flat;
    }

    std::vector<double> laid_out(const std::vector<double>& w) override {
        std::vector<double> all = flat_weights(w);
        const std::vector<double> links = links_.flat();
        all.insert(all.end(), links.begin(), links.end());
        return all;
    }

    void state(State& state) override {
        state(W_, linear_, reach_, error_, bounds_, t_);
        state.array(visits_.data(), visits_.size());
    }

    std::vector<double> iterate() const override { return W_.value(); }
    std::vector<double> sum_of_iterates() const override { return W_.sum_of_iterates(); }

    /// How many steps were made before the time was up.
    std::uint64_t make_steps(std::span<const RowNumber> block) override {
        std::size_t made = 0;
        while (made < block.size() && step(block.subspan(made, options_.batch))) made += options_.batch;
        return made / options_.batch;
    }

    /// False, and no step, when the time is up.
    bool step(std::span<const RowNumber> batch) {
        take_links(W_);
        context_.team.run([&](std::size_t worker) {
            auto& [viterbi, scores] = workers_[worker];
            for (std::size_t b = worker; b < batch.size() && !context_.team.failed(); b += workers_.size()) {
                best_[b].resize(problem_.length(batch[b]));
                score_positions(problem_, batch[b], W_, scores);
                viterbi.decode(scores.data(), best_[b].size(), links_, best_[b].data());
                if (worker == 0) context_.monitor.worked(best_[b].size() * links_.stride() * 8);
            }
        });
        if (context_.monitor.timed_out()) return false;
        W_.accumulate();
        const double inverse = 1 / static_cast<double>(t_);
        const double each = inverse * problem_.C * static_cast<double>(problem_.n_sequences()) /
                            static_cast<double>(options_.batch);
        W_.scale(1 - inverse);
        shrink(1 - inverse);
        for (std::size_t b = 0; b < batch.size(); ++b)
            add(batch[b], best_[b], each * problem_.weights[batch[b]]);
        if (options_.project) shrink(W_.project(radius_));
        ++t_;
        return true;
    }

    /// What is kept as w is.
    void shrink(double factor) {
        linear_ *= factor;
        reach_ *= factor;
        error_ = factor * error_ + 6 * unit * reach_;
    }
    /// A term of w of that size.
    void count(double size) {
        reach_ += size;
        error_ += unit * (rounding_.repeats() * reach_ + 16 * size);
    }

    /// w <- w + c (phi(right) - phi(other))
    void add(std::size_t i, const std::vector<Label>& other, double c) {
        ++visits_[i];
        linear_ += c * problem_.cost_of(i, other);
        const auto right = problem_.right(i);
        const auto add_difference = [&](const auto& rows, std::size_t row, double norm, std::size_t plus,
                                        std::size_t minus) {
            d_[plus] += 1;
            d_[minus] -= 1;
            W_.add(rows, row, c, d_.data());
            d_[plus] = d_[minus] = 0;
            count(std::sqrt(2.0) * c * norm);
        };
        const auto add_one = [&](std::size_t row, std::size_t label, double sign) {
            d_[label] = 1;
            W_.add(link_rows_, row, sign * c, d_.data());
            d_[label] = 0;
            count(c);
        };
        problem_.rows.visit([&](const auto& rows) {
            for (std::size_t t = 0; t < right.size(); ++t) {
                const std::size_t row = problem_.start(i) + t;
                if (right[t] != other[t]) add_difference(rows, row, rounding_.norm(row), right[t], other[t]);
                if (t > 0 && (right[t] != other[t] || right[t - 1] != other[t - 1])) {
                    add_one(right[t - 1], right[t], 1);
                    add_one(other[t - 1], other[t], -1);
                }
            }
        });
        if (!problem_.boundaries || right.empty()) return;
        if (right[0] != other[0]) add_difference(link_rows_, links_.first(), 1, right[0], other[0]);
        if (right.back() != other.back())
            add_difference(link_rows_, links_.last(), 1, right.back(), other.back());
    }

    Bounds check(const std::vector<double>& w, Solution&) override {
        const ClassMatrix<double>& W = output_.from(w);
        take_links(W);
        Sum loss;
        const std::size_t n = problem_.n_sequences();
        std::vector<double> losses(n);
        context_.team.run([&](std::size_t worker) {
            auto& [viterbi, scores] = workers_[worker];
            std::vector<Label> best;
            for (std::size_t i = worker; i < n && !context_.team.failed(); i += workers_.size()) {
                best.resize(problem_.length(i));
                score_positions(problem_, i, W, scores);
                const double highest = viterbi.decode(scores.data(), best.size(), links_, best.data());
                losses[i] = std::max(highest - score_of(problem_.right(i), scores.data(), links_), 0.0);
                if (worker == 0) context_.monitor.worked(best.size() * links_.stride() * 8);
            }
        });
        for (std::size_t i = 0; i < n; ++i) loss.add(problem_.C * problem_.weights[i] * losses[i]);
        rounding_.bound_primal(sizes_of(W, problem_.dimension(), links_), loss.value(), bounds_);
        bound_dual();
        return bounds_;
    }

    /// Of the present weights, where it is the best one so far.
    void bound_dual() {
        const double most = *std::max_element(visits_.begin(), visits_.end());
        if (most == 0) return;
        const double steps = static_cast<double>(t_ - 1),
                     visits = steps * static_cast<double>(options_.batch);
        const double norm = W_.exact_squared_norm();
        // A little less than what makes the point feasible.
        double factor =
            std::min(1.0, visits / static_cast<double>(problem_.n_sequences()) / most) * (1 - 4 * unit);
        if (norm > 0) factor = std::clamp(linear_ / norm, 0.0, factor);
        SequenceSizes sizes;
        sizes.square = factor * factor * norm;
        sizes.column = factor * std::sqrt(norm);
        sizes.count = static_cast<double>(W_.size());
        const double linear = factor * linear_;
        const double linear_error = unit * (6 * steps + 16 + visits + rounding_.longest()) * linear;
        Bounds found{};
        rounding_.bound_dual(sizes, linear, linear_error, factor * (error_ + 16 * unit * reach_), found);
        if (found.dual <= bounds_.dual) return;
        bounds_.dual = found.dual;
        bounds_.below = found.below;
    }

    const SequenceProblem& problem_;
    const IterateOptions options_;
    ScaledClasses W_;
    ClassMatrix<double> output_;
    const UnitRows link_rows_;  // the links are rows of W behind those of the features
    Links links_;
    std::vector<Worker> workers_;
    std::vector<std::vector<Label>> best_;
    AlignedVector<double> d_;
    std::vector<std::uint32_t> visits_;
    const SequenceRounding rounding_;
    double radius_ = 0, linear_ = 0, reach_ = 0, error_ = 0;
    Bounds bounds_{};  // of the last check; the dual value is the best so far
    std::uint64_t t_ = 1;
};

}  // namespace

SequenceSolution solve_sequence_pegasos(const SequenceProblem& problem, const IterateOptions& options,
                                        Sampler& sampler, Context& context) {
    return Pegasos(problem, options, sampler, context).run();
}

}  // namespace pegasos
