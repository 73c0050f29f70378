#include "linear/solvers/ascent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "linear/visits.hpp"

namespace pegasos {

namespace {

/// Visits of a part, as a share of its rows, below which it is visited once more.
constexpr double few_visits = 0.7;

double product(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

Steps visit_part(const Problem& part, const RowState& kept, std::span<const RowNumber> order,
                 const Multipliers& multipliers, double b, double caution, std::size_t n_weights, double* w,
                 Monitor& monitor) {
    std::vector<RowNumber> awake;
    if (!kept.rest.empty()) {
        awake.reserve(order.size());
        for (const RowNumber i : order) {
            if (kept.rest[i] > 0)
                --kept.rest[i];
            else
                awake.push_back(i);
        }
        order = awake;
    }
    const bool cold = std::max(part.dimension(), n_weights) > cached_weights;
    std::vector<float> outward(order.size());
    Steps steps;
    part.rows.visit([&](const auto& rows) {
        part.loss.visit([&](const auto& loss) {
            steps = visit_rows(
                rows, loss, InShares(part, kept.q.data(), multipliers.extra_square()), part.labels, order, 0,
                order.size(), Margin(multipliers, b), caution, cold, w, part.dimension() - 1, outward.data(),
                [](RowNumber, double) {}, [&](std::size_t entries) { return monitor.worked(entries); });
        });
    });
    if (!kept.rest.empty())
        for (std::size_t p = 0; p < static_cast<std::size_t>(steps.count); ++p)
            if (outward[p] > 0)
                kept.rest[order[p]] = static_cast<std::uint8_t>(epochs_of_rest(outward[p], steps.usual()));
    return steps;
}

Steps Ascent::visit(const Problem& part, const RowState& kept, std::span<const RowNumber> order, int most,
                    Monitor& monitor) {
    Steps all;
    for (int time = 0; time < most; ++time) {
        Steps steps = visit_part(part, kept, order, multipliers, b, 1, n_weights, w.data(), monitor);
        if (time > 0) steps.gap = 0;  // the first visits tell that of the rows
        add(steps);
        all.add(steps);
        if (all.count >= few_visits * static_cast<double>(order.size())) break;
    }
    return all;
}

bool Ascent::end_epoch() {
    b = multipliers.intercept(b, w.back());
    gap_ = epoch_.gap;
    checks.met(gap_);
    all_rest = epoch_.count == 0;
    epoch_ = {};
    return checks.due(dual());
}

void Ascent::begin_joins(std::size_t K) {
    caution = static_cast<double>(K);
    shares_.assign(K, 0.0);
    mean_w.clear();
}

const std::vector<double>& Ascent::join(const std::vector<std::vector<double>>& changes, const Steps* steps) {
    const std::size_t K = changes.size();
    // What the intercept is apart from a constant feature.
    const double bias = multipliers.bias, slope = bias > 0 ? multipliers.slope / bias : 0,
                 shift = bias > 0 ? multipliers.kappa * b / bias + slope * w.back() : 0;
    std::vector<double> rise(K), products(K * K);
    for (std::size_t k = 0; k < K; ++k) {
        rise[k] = steps[k].linear - product(changes[k], w) - shift * changes[k].back();
        for (std::size_t l = 0; l < K; ++l)
            products[k * K + l] =
                product(changes[k], changes[l]) + slope * changes[k].back() * changes[l].back();
    }
    shares_ = best_shares(rise, products);
    const double all = std::accumulate(products.begin(), products.end(), 0.0),
                 best = all > 0 ? std::max(std::accumulate(rise.begin(), rise.end(), 0.0) / all, 0.0) : 1;
    caution = std::clamp(caution / std::sqrt(std::clamp(best, 0.25, 4.0)), 1.0, static_cast<double>(K));
    mean_w = w;
    mean_b = b;
    for (std::size_t k = 0; k < K; ++k) {
        for (std::size_t j = 0; j < w.size(); ++j) w[j] += shares_[k] * changes[k][j];
        Steps kept = steps[k];
        kept.linear *= shares_[k];
        add(kept);
    }
    for (std::size_t j = 0; j < w.size(); ++j) mean_w[j] = (mean_w[j] + w[j]) / 2;
    mean_b = (mean_b + multipliers.intercept(b, w.back())) / 2;
    return shares_;
}

void Ascent::set_point(const Measure& sums) {
    w = sums.dual.u;  // without what rounding has added up
    linear = sums.dual.linear;
    shares_.assign(shares_.size(), 1.0);  // nothing is left to join
}

std::vector<double> best_shares(const std::vector<double>& rise, const std::vector<double>& products) {
    const std::size_t K = rise.size();
    const double total = std::accumulate(products.begin(), products.end(), 0.0);
    const double common =
        total > 0 ? std::clamp(std::accumulate(rise.begin(), rise.end(), 0.0) / total, 0.0, 1.0) : 1;
    std::vector<double> shares(K, common);
    for (int time = 0; time < 100; ++time) {
        double largest = 0;
        for (std::size_t k = 0; k < K; ++k) {
            const double square = products[k * K + k];
            if (!(square > 0)) continue;
            double pull = rise[k];
            for (std::size_t l = 0; l < K; ++l) pull -= products[k * K + l] * shares[l];
            const double next = std::clamp(shares[k] + pull / square, 0.0, 1.0);
            largest = std::max(largest, std::abs(next - shares[k]));
            shares[k] = next;
        }
        if (largest < 1e-6) break;
    }
    return shares;
}

}  // namespace pegasos
