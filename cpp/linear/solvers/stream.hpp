// clang-format off
// Pegasos on a stream: every row is met once, and what is kept does not grow with their number.
//
// Of the rows met so far it minimises f(w) = lambda/2 ||w||^2 + 1/W sum_t s_t loss(z_t), W = s_1 + ... + s_t. The mean
// weight of a stream is not known beforehand, so W takes the place of t in the step size (with weights 1 it is t):
//
//   w_{t+1}  = (1 - s/W) w_t + s/(lambda W) q_t y_t x_t          q_t = slope(z_t), z_t = y_t <w_t, x_t>  (S0 Fig. 1)
//   w_{t+1} <- min(1, r / ||w_{t+1}||) w_{t+1}                   optional, r^2 = 1/(lambda W) sum_t s_t loss(0)
//
// So w = a / (lambda W) with a = sum_t s_t q_t y_t x_t, and a needs no memory of its own. With M = sum_t s_t dual(q_t),
// where dual(q_t) = loss(z_t) + q_t z_t, S3's bound (Jensen on its Proposition 2) is a true one on the rows met, each
// counted as often as it was met:
//   f(u) >= M/W - ||a||^2 / (2 lambda W^2)   for every u.
// A projection by a factor c <= 1 multiplies a and M by it, which keeps the bound: losses are not negative, so the
// terms of the rows before may count less.
//
// Losses whose slopes have no bound (the squared ones) would make the first steps overshoot ever further. Before a step
// that would, W is raised to where it is a descent, s curvature ||x||^2 / lambda, as by rows without a loss; a is left as
// it is. The bound divides by the weight met, W less what was added (`idle`).
//
// The bound allows for rounding, u = 2^-53. The weight W that is kept defines what is meant by a = lambda W w, of which a
// step changes one term. It is off by at most 16 u ||a|| in norm for its factor 1 - s/W, which is off by 3 u, so by more
// of itself where it is small, and by 8 u (||a|| + ||the term||) for products and sums; as often as a feature stands in
// the row. These errors add up, and so do those of M and of the weight met.
//
// Progress is what was predicted before each step: loss and errors by w_t, the last iterate, whatever the output.
// clang-format on
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/monitor.hpp"
#include "base/rounding.hpp"
#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "base/state.hpp"
#include "base/suffix.hpp"
#include "linear/losses.hpp"
#include "linear/scaled_vector.hpp"
#include "rows/any_rows.hpp"

namespace pegasos {

/// What was predicted before each step: sums over the rows, each times its weight.
struct Progress {
    double weight = 0, loss = 0;
    double errors = 0;  // wrong signs; in regression squared errors
    std::uint64_t rows = 0;
    double score = 0;  // of the last row

    template <class Loss>
    void add(const Loss& loss, double score, double y, double s) {
        const double z = loss.sign(y) * score;
        weight += s;
        this->loss += s * loss.value(z, y);
        // A score of zero is taken for the negative class, as by `predict`.
        errors += s * (loss.regression ? (score - y) * (score - y) : (score > 0) != (y > 0));
        ++rows;
        this->score = score;
    }
    void add(const Progress& more) {
        weight += more.weight;
        loss += more.loss;
        errors += more.errors;
        rows += more.rows;
        score = more.score;
    }
};

/// How often a column may stand in a row, at most. Text that is hashed may have one twice, and then in no
/// order.
template <class Rows>
double most_repeats(const Rows& rows, std::size_t i) {
    if constexpr (requires { rows.columns; }) {
        bool rising = true;
        for (auto k = rows.starts[i] + 1; k < rows.starts[i + 1]; ++k)
            rising &= rows.columns[k] > rows.columns[k - 1];
        return rising ? 1 : static_cast<double>(rows.entries(i));
    } else {
        return 1;
    }
}

struct StreamOptions {
    double lambda = 1;
    bool project = false;
    Output output = Output::last;
};

/// The state between calls, as numbers and vectors that can be stored.
struct StreamState {
    std::vector<double> numbers;
    std::vector<std::vector<double>> vectors;
};

/// What all learners of a stream tell of themselves; without a bound, what belongs to one is 0.
class StreamLearner {
public:
    virtual std::size_t dimension() const = 0;
    virtual std::vector<double> output() const = 0;   // the vector to predict with
    virtual std::vector<double> iterate() const = 0;  // the last one
    virtual double met() const = 0;                   // weight
    virtual double lower_bound() const { return 0; }
    virtual double idle() const { return 0; }
    virtual double dual_sum() const { return 0; }
    virtual double dual_error() const { return 0; }
    virtual double error() const { return 0; }
    virtual StreamState state() const = 0;
    virtual void restore(const StreamState& state) = 0;
    virtual void state(State& state) = 0;  // to the last bit, for checkpoints

protected:
    ~StreamLearner() = default;
};

class PegasosStream final : public StreamLearner {
public:
    PegasosStream(std::size_t dimension, const StreamOptions& options)
        : options_(options), w_(dimension, options.output != Output::last) {
        if (!(options.lambda > 0)) throw std::invalid_argument("lambda must be positive");
        if (options.output == Output::random_stop || is_best(options.output))
            throw std::invalid_argument("a stream has no random stop, and no checks to find the best by");
    }

    template <class Rows>
    double score(const Rows& rows, std::size_t i) const {
        return w_.dot(rows, i);
    }

    template <class Loss, class Rows>
    void step(const Loss& loss, const Rows& rows, std::size_t i, double score, double y, double s) {
        if (options_.output != Output::last) {
            w_.accumulate();
            if (++steps_ == suffix_.next && options_.output == Output::suffix)
                suffix_.take(steps_, w_.sum_of_iterates());
        }
        const double sign = loss.sign(y), slope = loss.slope(sign * score, y);
        if (loss.curvature > 0 && slope != 0)
            raise_weight(loss.curvature * s * rows.squared_norm(i) / options_.lambda - s);
        weight_ += s;
        met_ += s;
        ++count_;
        const double share = s / weight_;
        if (share > 0.5) error_ += size_ * std::min(8 * unit / (1 - share), 1.0);
        w_.scale(1 - share);
        if (slope != 0) {
            const double c = share / options_.lambda * slope * sign, square = w_.add(rows, i, c);
            const double own = std::abs(c) * norm_above(square, rows.entries(i) + 1) * weight_;
            error_ = error_so_far() + 8 * unit * most_repeats(rows, i) * (size_ + own);
            take_size();
            const double dual = loss.dual(slope, 1, y);
            dual_sum_ += s * dual;
            dual_error_ += unit * (20 * s * loss.size_of_dual(slope, y, dual) + std::abs(dual_sum_));
        }
        if (options_.project) project(s * loss.value(0, y));
    }

    /// The vector to predict with: the last iterate, or a mean of them.
    std::vector<double> output() const override {
        if (options_.output == Output::last || steps_ == 0) return w_.value();
        return suffix_.mean(w_.sum_of_iterates(), steps_);
    }

    /// A true lower bound on f of the rows met; 0, where no better one is known.
    double lower_bound() const override {
        if (!(met_ > 0)) return 0;
        const double off = 1.01 * unit * static_cast<double>(count_) * met_, least = met_ - off,
                     most = met_ + off;
        const double sum = dual_sum_ - dual_error(), loss = sum / (sum > 0 ? most : least);
        const double norm = std::sqrt(squared_norm(w_.value())) + error(), grown = weight_ / least;
        const double half = options_.lambda / 2 * grown * grown * norm * norm;
        const double bound = loss - half - 16 * unit * (std::abs(loss) + half);
        return std::isfinite(bound) ? bound : 0;
    }

    std::size_t dimension() const override { return w_.size(); }
    double met() const override { return met_; }
    double idle() const override { return weight_ - met_; }
    double dual_sum() const override { return dual_sum_; }
    double dual_error() const override { return 1.01 * dual_error_; }
    /// How far the iterate is off in norm: from a / (lambda (weight + idle)), and by its own rounding.
    double error() const override {
        return weight_ > 0 ? 1.01 * (error_so_far() + 4 * unit * size_) / weight_ : 0;
    }
    std::vector<double> iterate() const override { return w_.value(); }

    StreamState state() const override {
        StreamState state{
            {weight_, idle(), dual_sum_, loss_at_zero_, static_cast<double>(steps_),
             static_cast<double>(suffix_.next), met_, static_cast<double>(count_), dual_error_, error()},
            {w_.value()}};
        if (!std::isfinite(error_)) state.numbers.resize(n_without_errors);
        if (options_.output == Output::last) return state;
        state.vectors.push_back(w_.sum_of_iterates());
        for (const auto& [steps, sum] : suffix_.snapshots) {
            state.numbers.push_back(static_cast<double>(steps));
            state.vectors.push_back(sum);
        }
        return state;
    }
    void restore(const StreamState& state) override {
        const std::size_t sums = options_.output != Output::last;
        const auto& [numbers, vectors] = state;
        const std::size_t n_snapshots = vectors.size() - 1 - sums, n_numbers = numbers.size() - n_snapshots;
        if (vectors.size() < 1 + sums || n_snapshots > 2 || numbers.size() < n_snapshots ||
            (n_numbers != 10 && n_numbers != n_without_errors))
            throw std::invalid_argument("not the state of a stream with this output");
        for (const auto& vector : vectors)
            if (vector.size() != dimension()) throw std::invalid_argument("lengths differ");
        weight_ = numbers[0];
        dual_sum_ = numbers[2];
        loss_at_zero_ = numbers[3];
        steps_ = static_cast<std::uint64_t>(numbers[4]);
        suffix_ = {{}, static_cast<std::uint64_t>(numbers[5])};
        // What rounding did to a stream of an older version nobody knows.
        const bool known = n_numbers != n_without_errors;
        met_ = known ? numbers[6] : weight_ - numbers[1];
        count_ = known ? static_cast<std::uint64_t>(numbers[7]) : 0;
        dual_error_ = known ? numbers[8] : 0;
        error_ = known ? numbers[9] * weight_ : std::numeric_limits<double>::infinity();
        w_.assign(vectors[0]);
        take_size();
        if (sums) w_.assign_sum(vectors[1]);
        for (std::size_t k = 0; k < n_snapshots; ++k)
            suffix_.snapshots.push_back({static_cast<std::uint64_t>(numbers[n_numbers + k]), vectors[k + 2]});
    }

    void state(State& state) override {
        state(w_, weight_, met_, dual_sum_, loss_at_zero_, dual_error_, error_, size_, count_, counted_,
              suffix_, steps_);
    }

private:
    static constexpr std::size_t n_without_errors = 6;

    /// Errors and size are those of w times its weight, which stay as they are when w shrinks.
    double error_so_far() const {
        return error_ + 16 * unit * size_ * static_cast<double>(count_ - counted_);
    }
    void take_size() {
        size_ = 1.01 * std::sqrt(w_.squared_norm()) * weight_;
        counted_ = count_;
    }

    /// Makes `weight_` at least this, as by rows without a loss: w shrinks, and a stays.
    void raise_weight(double least) {
        if (!(least > weight_)) return;
        w_.scale(weight_ / least);
        error_ += 8 * unit * size_;
        weight_ = least;
    }

    void project(double loss_at_zero) {
        loss_at_zero_ += loss_at_zero;
        const double square = loss_at_zero_ / (options_.lambda * met_);
        if (!(w_.squared_norm() > square)) return;
        const double factor = std::sqrt(square / w_.squared_norm());
        w_.scale(factor);
        error_ = factor * error_so_far() + 8 * unit * size_;
        take_size();
        dual_sum_ *= factor;
        dual_error_ = factor * dual_error_ + unit * std::abs(dual_sum_);
    }

    StreamOptions options_;
    ScaledVector w_;
    double weight_ = 0, met_ = 0, dual_sum_ = 0, loss_at_zero_ = 0;
    double dual_error_ = 0, error_ = 0, size_ = 0;  // the last two as of step `counted_`
    std::uint64_t count_ = 0, counted_ = 0;         // steps
    Suffix suffix_;
    std::uint64_t steps_ = 0;
};

}  // namespace pegasos
