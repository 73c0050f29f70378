#include "linear/solvers/descent.hpp"

#include <algorithm>
#include <cmath>

namespace pegasos {

Steps Descent::visit(const Problem& part, const RowState&, std::span<const RowNumber> order, int,
                     Monitor& monitor) {
    Steps steps;
    if (order.empty()) return steps;
    epochs_ += !within_epoch_;
    within_epoch_ = true;
    stream_.learn(part.rows, part.labels, part.weights, order, {}, monitor);
    steps.count = static_cast<double>(order.size());
    visits += steps.count;
    return steps;
}

bool Descent::end_epoch() {
    if (const Bound now = dual_of_slopes(); now.value > free_dual_.value) free_dual_ = now;
    const double met = stream_.progress.weight - weight_before_;
    const double loss = met > 0 ? (stream_.progress.loss - loss_before_) / met : 0;
    const double primal = squared_norm(stream_.common().iterate()) / 2 + C_ * total_weight_ * loss,
                 dual = free_dual_.value;
    weight_before_ = stream_.progress.weight;
    loss_before_ = stream_.progress.loss;
    gap_ = primal - dual;
    checks.met(gap_);
    within_epoch_ = false;
    return checks.due(dual);
}

Bound Descent::dual_of_slopes() const {
    if (epochs_ == 0) return {0, 0};
    const StreamLearner& stream = stream_.common();
    const auto epochs = static_cast<double>(epochs_);
    const double longest = (1 - 4 * unit) / epochs, grown = (stream.met() + stream.idle()) / total_weight_;
    DualPoint point;
    point.u = stream.iterate();  // times `grown`: C a
    const double square = grown * grown * squared_norm(point.u), linear = C_ * stream.dual_sum();
    const double c = square > 0 ? std::min(longest, std::max(linear, 0.0) / square) : longest;
    for (double& x : point.u) x *= c * grown;
    point.linear = c * linear;
    point.linear_error = c * C_ * stream.dual_error() + 8 * unit * std::abs(c * linear);
    point.error = c * grown * stream.error() + 16 * unit * std::sqrt(squared_norm(point.u));
    return point.value();
}

}  // namespace pegasos
