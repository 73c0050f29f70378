#include "linear/fit.hpp"

#include <cmath>
#include <utility>

#include "linear/certificate.hpp"

namespace pegasos {

void Measure::add(const Measure& other) {
    losses += other.losses;
    above += other.above + unit * std::abs(losses);
    const DualPoint& more = other.dual;
    if (dual.u.empty()) dual.u.resize(more.u.size());
    for (std::size_t j = 0; j < dual.u.size(); ++j) dual.u[j] += more.u[j];
    dual.linear += more.linear;
    dual.linear_error += more.linear_error + unit * std::abs(dual.linear);
    dual.error += more.error + unit * std::sqrt(squared_norm(dual.u));
}

Measure measure_part(const Problem& part, const RowState& kept, const std::vector<double>& w,
                     Context& context) {
    DualPoint point;
    const auto shares = [&](std::size_t first, std::size_t last, const double* z, double* out) {
        part.loss.visit([&](const auto& loss) {
            for (std::size_t i = first; i < last; ++i) {
                const double q = kept.q.empty() ? 0 : loss.clip(kept.q[i]);
                out[i - first] = q;
                if (kept.rest.empty() || kept.rest[i] == 0) continue;
                const double cost = part.C * part.weights[i];
                if (cost > 0 && loss.pull(cost * q, cost, z[i - first], part.labels[i]).projected != 0)
                    kept.rest[i] = 0;  // it was too long
            }
        });
    };
    const Bound primal = LinearPass(part, w, context).make(point, shares);
    point.q.clear();
    return {primal.value - primal.rounding - squared_norm(w) / 2, primal.rounding, std::move(point)};
}

bool LinearFit::end_check(Context& context, bool out_of_time, bool last) {
    Bound primal{std::numeric_limits<double>::infinity(), 0}, dual = free_dual_;
    if (!sums_.dual.u.empty()) {
        primal = primal_bound(squared_norm(weights_), 1, sums_.losses, sums_.above,
                              static_cast<std::size_t>(n_rows), dimension);
        if (const Bound measured = measured_dual(sums_); measured.value > dual.value) dual = measured;
    }
    return take(context, between(primal, dual), weights_, {}, out_of_time, last);
}

bool LinearFit::take(Context& context, const Bounds& now, std::vector<double> w, std::vector<double> q,
                     bool out_of_time, bool last) {
    if (std::isfinite(now.primal)) {
        gap_ = now.primal - now.dual;
        checks.found(gap_);
    }
    const Solution::Kept kept = solution.take(context, epochs(), now, best_);
    if (kept.w) solution.w = std::move(w);
    if (kept.q) solution.q = std::move(q);
    solution.tell(context);
    return !solution.reason.empty() || solution.ends(tol, out_of_time, last);
}

}  // namespace pegasos
