#include "linear/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "rows/passes.hpp"

namespace pegasos {

namespace {

/// <w, x_i> in twice double precision, rounded.
template <class Rows>
double careful_dot(const Rows& rows, std::size_t i, const double* w) {
    Double2 sum;
    rows.for_each(i, [&](std::size_t j, double x) { sum = sum + exact_product(x, w[j]); });
    return sum.value();
}

class RowSum : public RowsSum<std::vector<double>> {
public:
    RowSum() : RowSum(0, false) {}
    RowSum(std::size_t size, bool careful)
        : RowsSum(std::vector<double>(size), std::vector<double>(careful ? size : 0)) {}

    /// Adds C s_i q_i x_i for the rows of a block; s, q and facts are those of the block.
    template <class Rows>
    void add(const Rows& rows, std::size_t first, std::size_t last, double C, const double* s,
             const double* q, const RowFacts* facts) {
        for (std::size_t p = 0; p < last - first; ++p) {
            if (q[p] == 0) continue;
            const double c = C * s[p] * q[p];
            reach_.add(std::abs(c) * facts[p].norm, lost_of_row(facts[p].norm, facts[p].entries, q[p]));
            if (careful())
                add_carefully(rows, first + p, exact_product(C, s[p]) * Double2{q[p]});
            else
                rows.add(first + p, c, high_.data());
        }
    }

    const std::vector<double>& high() const { return high_; }

private:
    template <class Rows>
    void add_carefully(const Rows& rows, std::size_t i, const Double2& c) {
        rows.for_each(i, [&](std::size_t j, double x) { set(j, at(j) + c * Double2{x}); });
    }
};

/// What the rows of one sign add to the dual.
struct Group {
    Sum linear, alpha;
    double size = 0, lost = 0;  // of the terms of `linear`; what underflow took from them
    RowSum u;
};

/// A penalised intercept pays for sum y alpha, its entry of u: the heavier class gets the factor in [0, 1] of
/// largest dual value, given the `linear` and u of each class.
std::pair<Double2, Double2> lighten(const double linear[2], const RowSum u[2]) {
    const std::vector<double>&negative = u[0].high(), &positive = u[1].high();
    const int heavy = negative.back() + positive.back() > 0;
    double cross = 0, square = 0;
    for (std::size_t j = 0; j < negative.size(); ++j) {
        cross += negative[j] * positive[j];
        square += u[heavy].high()[j] * u[heavy].high()[j];
    }
    const double factor = square > 0 ? std::clamp((linear[heavy] - cross) / square, 0.0, 1.0) : 1;
    return heavy ? std::pair{Double2{1}, Double2{factor}} : std::pair{Double2{factor}, Double2{1}};
}

/// At least the norm of w; 0 where scores are exact, as at most the intercept is not zero.
double norm_of_weights(const AnyRows& rows, const std::vector<double>& w, std::size_t size) {
    const bool exact =
        stored_error(rows) == 0 && std::none_of(w.begin(), w.end() - 1, [](double x) { return x != 0; });
    return exact ? 0 : norm_above(squared_norm(w, size), size);
}

/// One column of weights; its dual point is filled in.
class LinearTerms {
public:
    LinearTerms(const Problem& problem, const std::vector<double>& w, int n_groups, bool careful,
                DualPoint& point)
        : problem_(problem),
          w_(w.data()),
          n_groups_(n_groups),
          careful_(careful),
          point_(point),
          norm_of_w_(norm_of_weights(problem.rows, w, w.size())),
          stored_(stored_error(problem.rows)) {
        if (std::isfinite(norm_of_w_)) return;
        // The square of a free intercept, which is no part of the primal value: it counts on its own.
        norm_of_w_ = norm_of_weights(problem.rows, w, problem.n_penalized());
        constant_ = problem.rows.bias * std::abs(w.back());
    }

    struct alignas(128) Partial {  // on cache lines of its own
        explicit Partial(const LinearTerms& terms) {
            for (int g = 0; g < terms.n_groups_; ++g)
                groups[g].u = RowSum(terms.problem_.dimension(), terms.careful_);
        }

        Sum losses;
        double slack = 0;  // what rounding may add to them
        Group groups[2];
        double z[pass_rows], shares[2][pass_rows];
    };

    template <class Rows>
    void score(const Rows& rows, std::size_t i, Partial& partial, std::size_t b) const {
        partial.z[b] = careful_ ? careful_dot(rows, i, w_) : rows.dot(i, w_);
    }

    void add_losses(std::size_t first, std::size_t last, const RowFacts* facts, Partial& partial) const {
        double* const z = partial.z;
        problem_.loss.visit([&](const auto& loss) {
            for (std::size_t i = first, p = 0; i < last; ++i, ++p) {
                const double y = problem_.labels[i], s = problem_.weights[i],
                             norms = norm_of_w_ * facts[p].norm + constant_;
                double error = careful_ ? 2 * unit * std::abs(z[p]) +
                                              careful_score_error(facts[p].entries, stored_) * norms
                                        : score_error(facts[p].entries) * norms;
                if (loss.regression) error += 2 * unit * std::abs(y);
                z[p] *= loss.sign(y);
                const double value = loss.value(z[p], y), excess = loss.excess(z[p], y, error, value);
                partial.losses.add(s * value);
                partial.slack += s * excess;
                if (s > 0 && (value > 0 || excess > 0)) partial.slack += lost_products(s);
            }
        });
    }

    std::pair<const double*, double*> slopes(std::size_t first, Partial& partial) const {
        return {partial.z, &point_.q[first]};
    }

    void add_duals(std::size_t first, std::size_t last, Partial& partial) const {
        const double* const q = &point_.q[first];
        problem_.loss.visit([&](const auto& loss) {
            for (std::size_t i = first, p = 0; i < last; ++i, ++p) {
                const double y = problem_.labels[i], s = problem_.weights[i], sign = loss.sign(y),
                             dual = loss.dual(q[p], 1, y);
                const bool side = n_groups_ == 2 && sign * q[p] > 0;
                Group& mine = partial.groups[side];
                mine.linear.add(s * dual);
                mine.size += s * loss.size_of_dual(q[p], y, dual);
                if (s > 0 && q[p] != 0) mine.lost += lost_products(s);
                if (problem_.free_intercept) {
                    const Double2 share =
                        careful_ ? exact_product(s, std::abs(q[p])) : Double2{s * std::abs(q[p])};
                    mine.alpha.add(share.high);
                    if (careful_) mine.alpha.add(share.low);
                }
                partial.shares[side][p] = q[p] * sign;
                partial.shares[!side][p] = 0;
            }
        });
    }

    template <class Rows>
    void add_rows(const Rows& rows, std::size_t first, std::size_t last, const RowFacts* facts,
                  Partial& partial) const {
        for (int g = 0; g < n_groups_; ++g)
            partial.groups[g].u.add(rows, first, last, problem_.C, &problem_.weights[first],
                                    partial.shares[g], facts);
    }

    std::size_t work(std::size_t entries) const { return entries; }

private:
    const Problem& problem_;
    const double* const w_;
    const int n_groups_;  // 2: the two classes apart
    const bool careful_;
    DualPoint& point_;
    double norm_of_w_, constant_ = 0;  // a score is off by a share of ||w|| ||x|| + constant
    const double stored_;
};

}  // namespace

std::vector<Visited> not_visited(const Problem& problem) {
    std::vector<Visited> visited;
    visited.reserve(problem.n_rows());
    for (std::size_t i = 0; i < problem.n_rows(); ++i)
        visited.push_back({problem.sign(i) * problem.weights[i]});
    return visited;
}

Bound LinearPass::make(DualPoint& point, const SlopeFunction& slopes, bool careful) const {
    const AnyRows& rows = problem_.rows;
    const bool free = problem_.free_intercept;
    const int n_groups = free || (lightened_ && !careful && rows.bias > 0) ? 2 : 1;
    point.q.resize(rows.n_rows);
    auto partials =
        make_pass(LinearTerms(problem_, w_, n_groups, careful, point), rows, slopes, team_, monitor_);
    Sum losses;
    double linear[2] = {0, 0}, slack = 0, size = 0, lost = 0;
    Double2 alpha[2];
    RowSum u[2];
    for (const auto& partial : partials) {
        losses.add(partial->losses.value());
        slack += partial->slack;
    }
    for (int g = 0; g < n_groups; ++g) {
        Sum sum;
        u[g] = std::move(partials[0]->groups[g].u);
        for (std::size_t k = 0; k < partials.size(); ++k) {
            const Group& group = partials[k]->groups[g];
            sum.add(group.linear.value());
            size += group.size;
            lost += group.lost;
            alpha[g] = alpha[g] + group.alpha.exactly();
            if (k > 0) u[g].combine({1}, group.u, {1});
        }
        linear[g] = problem_.C * sum.value();
    }
    if (n_groups == 2) {
        const auto [negative, positive] = free ? balance(alpha[0], alpha[1]) : lighten(linear, u);
        const double low = negative.value(), high = positive.value();
        linear[0] = low * linear[0] + high * linear[1];
        u[0].combine(negative, u[1], positive);
        if (low != high)
            for (std::size_t i = 0; i < rows.n_rows; ++i)
                point.q[i] *= problem_.sign(i) * point.q[i] > 0 ? high : low;
    }
    point.linear = linear[0];
    point.linear_error = problem_.C * ((32 * unit + sum_error(rows.n_rows)) * size + 1.01 * lost);
    point.error = u[0].error(rows);
    point.u = u[0].take();
    if (free) point.u.back() = 0;
    if (careful) point.error += 2 * unit * std::sqrt(squared_norm(point.u));
    return primal_bound(squared_norm(w_, problem_.n_penalized()), problem_.C, losses.value(), slack,
                        rows.n_rows, w_.size());
}

void LinearPass::slopes_of(const DualPoint& point, std::size_t first, std::size_t last, double* q) const {
    problem_.loss.visit([&](const auto& loss) {
        for (std::size_t i = first; i < last; ++i) q[i - first] = loss.clip(point.q[i]);
    });
}

void LinearPass::mean_slopes(const std::vector<Visited>& visited, std::size_t first, std::size_t last,
                             const double* z, double* q) const {
    problem_.loss.visit([&](const auto& loss) {
        for (std::size_t i = first, p = 0; i < last; ++i, ++p)
            q[p] = visited[i].visits ? loss.clip(visited[i].slopes / static_cast<double>(visited[i].visits))
                                     : loss.slope(z[p], problem_.labels[i]);
    });
}

Bounds LinearPass::check(Certifier& certifier, std::vector<Visited>& visited, double tol) const {
    const auto slopes = [&](std::size_t first, std::size_t last, const double* z, double* q) {
        mean_slopes(visited, first, last, z, q);
        for (std::size_t i = first; i < last; ++i) {
            visited[i].visits = 0;
            visited[i].slopes = 0;
        }
    };
    return certifier.check(*this, slopes, tol);
}

Bounds certify(const Problem& problem, const std::vector<double>& w, const std::vector<double>& q, double tol,
               Context& context) {
    DualPoint point;
    const auto given = [&](std::size_t first, std::size_t last, const double*, double* out) {
        std::copy(q.data() + first, q.data() + last, out);
    };
    return LinearPass(problem, w, context).bounds(point, given, tol, context.monitor);
}

}  // namespace pegasos
