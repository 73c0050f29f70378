// AdaGrad on a stream (Duchi, Hazan and Singer 2011, the diagonal update without a norm): every weight has a
// step size of its own, which falls with the sub-gradients it has met.
//
//   g_j  = q_t y_t x_tj                      minus the sub-gradient, q_t = slope(z_t), z_t = y_t <w_t, x_t>
//   G_j <- G_j + s_t g_j^2
//   w_j <- w_j + eta s_t g_j / sqrt(G_j)
//
// A rare feature moves as far as a frequent one when it is met, which 1/(lambda t) would not let it do: of
// hashed text most of what is to be learned is in rare words. It minimises the mean loss alone; there is no
// lambda, and no bound but zero.
#pragma once

#include <cmath>
#include <stdexcept>
#include <vector>

#include "linear/solvers/stream.hpp"

namespace pegasos {

class AdaGradStream final : public StreamLearner {
public:
    AdaGradStream(std::size_t dimension, double eta) : eta_(eta), w_(dimension), squares_(dimension) {
        if (!(eta > 0)) throw std::invalid_argument("eta must be positive");
    }

    template <class Rows>
    double score(const Rows& rows, std::size_t i) const {
        return rows.dot(i, w_.data());
    }

    template <class Loss, class Rows>
    void step(const Loss& loss, const Rows& rows, std::size_t i, double score, double y, double s) {
        weight_ += s;
        const double sign = loss.sign(y), slope = loss.slope(sign * score, y);
        if (slope == 0) return;
        const double square = s * slope * slope, step = eta_ * s * slope * sign;
        rows.for_each(i, [&](std::size_t j, double x) {
            squares_[j] += square * x * x;
            if (squares_[j] > 0) w_[j] += step * x / std::sqrt(squares_[j]);
        });
    }

    std::vector<double> output() const override { return w_; }
    std::vector<double> iterate() const override { return w_; }
    std::size_t dimension() const override { return w_.size(); }
    double met() const override { return weight_; }

    StreamState state() const override { return {{weight_}, {w_, squares_}}; }
    void restore(const StreamState& state) override {
        if (state.numbers.size() != 1 || state.vectors.size() != 2)
            throw std::invalid_argument("not the state of a stream with these options");
        for (const auto& vector : state.vectors)
            if (vector.size() != dimension()) throw std::invalid_argument("lengths differ");
        weight_ = state.numbers[0];
        w_ = state.vectors[0];
        squares_ = state.vectors[1];
    }
    void state(State& state) override {
        state(weight_);
        state.array(w_.data(), w_.size());
        state.array(squares_.data(), squares_.size());
    }

private:
    double eta_, weight_ = 0;
    std::vector<double> w_, squares_;
};

}  // namespace pegasos
