#include "linear/solvers/learner.hpp"

namespace pegasos {

namespace {

template <class Learner, class Loss, class Rows>
Progress present_rows(Learner& learner, const Loss& loss, const Rows& rows, std::span<const double> labels,
                      std::span<const double> weights, std::span<const RowNumber> order,
                      std::span<double> scores, Monitor& monitor) {
    constexpr std::size_t ahead = 16;  // rows
    const std::size_t count = order.empty() ? rows.n_rows : order.size();
    Progress progress;
    for (std::size_t p = 0; p < count; ++p) {
        if (!order.empty())
            prefetch_ahead(rows, order.data(), p, count, labels.data());
        else if (p + ahead < count)
            rows.prefetch_row(p + ahead);
        const std::size_t i = order.empty() ? p : order[p];
        const double score = learner.score(rows, i);
        progress.add(loss, score, labels[i], weights[i]);
        if (!scores.empty()) scores[i] = score;
        if (weights[i] > 0) learner.step(loss, rows, i, score, labels[i], weights[i]);
        if (monitor.worked(rows.entries(i))) break;
    }
    return progress;
}

}  // namespace

Progress Stream::learn(const AnyRows& rows, std::span<const double> labels, std::span<const double> weights,
                       std::span<const RowNumber> order, std::span<double> scores, Monitor& monitor) {
    const Progress now = rows.visit([&](const auto& typed) {
        return std::visit(
            [&](auto& mine) {
                const auto present = [&](const auto& of) {
                    return present_rows(mine, of, typed, labels, weights, order, scores, monitor);
                };
                return loss.is<Hinge>() ? present(Hinge{}) : present(loss);
            },
            learner);
    });
    progress.add(now);
    return now;
}

}  // namespace pegasos
