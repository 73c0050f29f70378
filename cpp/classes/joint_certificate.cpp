#include "classes/joint_certificate.hpp"

#include <cmath>
#include <limits>

#include "rows/passes.hpp"

namespace pegasos {

void swap_sign(std::vector<double>& q, std::span<const std::uint32_t> labels, std::size_t n_classes) {
    for (std::size_t i = 0; i < labels.size(); ++i)
        for (std::size_t k = 0; k < n_classes; ++k) {
            double& x = q[i * n_classes + k];
            x = k == labels[i] ? 1 - x : 0 - x;
        }
}

namespace {

/// The matrix U.
class ClassSum : public RowsSum<ClassMatrix<double>> {
public:
    ClassSum(std::size_t dimension, std::size_t n_classes, bool careful)
        : RowsSum({dimension, n_classes}, {careful ? dimension : 0, n_classes}) {}

    /// Adds C s x_i' change, where ||change|| is at most `size`; `lost` is what rounding took of the change.
    template <class Rows>
    void add(const Rows& rows, std::size_t i, double C, double s, const double* change, const double* lost,
             double size, const RowFacts& facts) {
        const double entries = facts.entries * static_cast<double>(high_.n_classes());
        reach_.add(C * s * size * facts.norm, lost_of_row(facts.norm, entries, size));
        if (!careful()) return high_.add_nonzero(rows, i, C * s, change);
        for (std::size_t k = 0; k < high_.n_classes(); ++k) {
            if (change[k] == 0) continue;
            const Double2 step = exact_product(C, s) * Double2{change[k], lost[k]};
            rows.for_each(i, [&](std::size_t j, double x) {
                set(j * high_.stride() + k, at(j * high_.stride() + k) + step * Double2{x});
            });
        }
    }
};

Double2 sum_of(const double* p, std::size_t K, bool careful) {
    Double2 sum;
    for (std::size_t k = 0; k < K; ++k)
        if (careful)
            sum = sum + Double2{p[k]};
        else
            sum.high += p[k];
    return sum;
}

/// p <- e_y - p, where the largest p is 1 less the others, which sum to `rest`: each entry is right
/// relatively. On request `lost` is what rounding took of them.
void to_change(double* p, std::size_t K, std::uint32_t y, std::size_t largest, const Double2& rest,
               double* lost) {
    const double own = p[y];
    for (std::size_t k = 0; k < K; ++k) p[k] = 0 - p[k];
    const auto set = [&](std::size_t k, const Double2& x) {
        p[k] = x.value();
        if (lost) lost[k] = (x.high - p[k]) + x.low;
    };
    if (lost) std::fill_n(lost, K, 0.0);
    if (largest == y) return set(y, rest);
    set(y, exact_sum(1, -own));
    set(largest, Double2{-1} + rest);
}

/// f = x_i W in twice the precision, rounded.
template <class Rows>
void careful_scores(const Rows& rows, std::size_t i, const ClassMatrix<double>& W, double* f) {
    for (std::size_t k = 0; k < W.n_classes(); ++k) {
        Double2 sum;
        rows.for_each(i, [&](std::size_t j, double x) { sum = sum + exact_product(x, W.row(j)[k]); });
        f[k] = sum.value();
    }
}

double largest_size(const double* f, std::size_t K) {
    double largest = 0;
    for (std::size_t k = 0; k < K; ++k) largest = std::max(largest, std::abs(f[k]));
    return largest;
}

/// All classes jointly; the dual point is filled in.
class JointTerms {
public:
    JointTerms(const JointProblem& problem, const ClassMatrix<double>& W, double norm_of_W, bool careful,
               DualPoint& point)
        : problem_(problem),
          W_(W),
          norm_of_W_(norm_of_W),
          stored_(stored_error(problem.rows)),
          K_(problem.n_classes),
          stride_(padded(K_)),
          careful_(careful),
          point_(point) {}

    struct Partial {
        explicit Partial(const JointTerms& terms)
            : U(terms.problem_.dimension(), terms.K_, terms.careful_),
              f(pass_rows * terms.stride_),
              p(pass_rows * terms.stride_),
              lost(terms.careful_ ? pass_rows * terms.stride_ : 0) {}

        Sum loss, linear;
        double slack = 0, linear_error = 0;
        ClassSum U;
        AlignedVector<double> f, p, lost;
    };

    template <class Rows>
    void score(const Rows& rows, std::size_t i, Partial& mine, std::size_t b) const {
        double* f = &mine.f[b * stride_];
        if (careful_)
            careful_scores(rows, i, W_, f);
        else
            W_.scores(rows, i, f);
    }

    void add_losses(std::size_t first, std::size_t last, const RowFacts* facts, Partial& mine) const {
        const JointLoss& loss = *problem_.loss;
        for (std::size_t i = first, b = 0; i < last; ++i, ++b) {
            const double *f = &mine.f[b * stride_], s = problem_.weights[i],
                         norms = norm_of_W_ * facts[b].norm;
            const double error = careful_ ? 6 * unit * largest_size(f, K_) +
                                                careful_score_error(facts[b].entries, stored_) * norms
                                          : score_error(facts[b].entries) * norms;
            const double value = loss.slope(f, problem_.labels[i], &mine.p[b * stride_]);
            const double excess = loss.excess(f, problem_.labels[i], error, value);
            mine.loss.add(s * value);
            mine.slack += s * excess;
            if (s > 0 && (value > 0 || excess > 0)) mine.slack += lost_products(s);
        }
    }

    std::pair<const double*, double*> slopes(std::size_t, Partial& mine) const {
        return {mine.f.data(), mine.p.data()};
    }

    void add_duals(std::size_t first, std::size_t last, Partial& mine) const {
        for (std::size_t i = first, b = 0; i < last; ++i, ++b) {
            double* p = &mine.p[b * stride_];
            const std::uint32_t y = problem_.labels[i];
            const double s = problem_.weights[i];
            const std::size_t largest = static_cast<std::size_t>(std::max_element(p, p + K_) - p);
            p[largest] = 0;
            const Double2 rest = sum_of(p, K_, careful_);
            p[largest] = 1 - rest.value();
            const Bound dual = problem_.loss->bound_of_dual(p, y, largest, rest.value());
            mine.linear.add(s * dual.value);
            mine.linear_error += s * dual.rounding;
            if (s > 0 && (dual.value != 0 || rest.value() > 0)) mine.linear_error += lost_products(s);
            to_change(p, K_, y, largest, rest, careful_ ? &mine.lost[b * stride_] : nullptr);
            std::copy_n(p, K_, &point_.q[i * K_]);
        }
    }

    template <class Rows>
    void add_rows(const Rows& rows, std::size_t first, std::size_t last, const RowFacts* facts,
                  Partial& mine) const {
        for (std::size_t i = first, b = 0; i < last; ++i, ++b) {
            // The others sum to 1 - p_y too, so that the norm is at most sqrt(2) of it.
            const double *p = &mine.p[b * stride_], own = p[problem_.labels[i]];
            if (own != 0)
                mine.U.add(rows, i, problem_.C, problem_.weights[i], p, mine.lost.data() + b * stride_,
                           1.5 * std::abs(own), facts[b]);
        }
    }

    std::size_t work(std::size_t entries) const { return entries * stride_ / 8; }

private:
    const JointProblem& problem_;
    const ClassMatrix<double>& W_;
    const double norm_of_W_, stored_;
    const std::size_t K_, stride_;
    const bool careful_;
    DualPoint& point_;
};

}  // namespace

Bound JointPass::make(DualPoint& point, const SlopeFunction& slopes, bool careful) const {
    const AnyRows& rows = problem_.rows;
    const std::size_t K = problem_.n_classes;
    Sum squares;
    for (const double x : W_.values()) squares.add(x * x);
    const double square = squares.value(),
                 norm_of_W = W_.is_zero() ? 0 : norm_above(square, W_.values().size());
    point.q.resize(rows.n_rows * K);
    auto partials =
        make_pass(JointTerms(problem_, W_, norm_of_W, careful, point), rows, slopes, team_, monitor_);
    Sum loss_sum, linear;
    double slack = 0, linear_error = 0;
    ClassSum& U = partials[0]->U;
    for (std::size_t t = 0; t < partials.size(); ++t) {
        const auto& one = *partials[t];
        loss_sum.add(one.loss.value());
        linear.add(one.linear.value());
        slack += one.slack;
        linear_error += one.linear_error;
        if (t > 0) U.combine({1}, one.U, {1});
    }
    point.linear = problem_.C * linear.value();
    point.linear_error =
        problem_.C * (1.01 * linear_error + (16 * unit + sum_error(rows.n_rows)) * linear.value());
    // Without what they lost, the entries of a change are right to K units themselves.
    point.error = U.error(rows, static_cast<double>(K + 32));
    point.u = U.take();
    if (careful) point.error += 2 * unit * std::sqrt(squared_norm(point.u));
    const double losses = loss_sum.value();
    slack += unit * static_cast<double>(2 * K + 32) * losses;
    return primal_bound(square, problem_.C, losses, slack, rows.n_rows, W_.values().size());
}

void JointPass::slopes_of(const DualPoint& point, std::size_t first, std::size_t last, double* p) const {
    const std::size_t K = problem_.n_classes, stride = padded(K);
    for (std::size_t i = first; i < last; ++i)
        for (std::size_t k = 0; k < K; ++k)
            p[(i - first) * stride + k] = std::max((k == problem_.labels[i]) - point.q[i * K + k], 0.0);
}

Bounds certify_jointly(const JointProblem& problem, const std::vector<double>& w,
                       const std::vector<double>& q, Context& context) {
    const std::size_t K = problem.n_classes, stride = padded(K);
    ClassMatrix<double> W(problem.dimension(), K);
    W.assign(w);
    DualPoint point;
    const auto given = [&](std::size_t first, std::size_t last, const double*, double* p) {
        for (std::size_t i = first; i < last; ++i) std::copy_n(&q[i * K], K, p + (i - first) * stride);
    };
    const Bound primal = JointPass(problem, W, context).make(point, given);
    for (std::size_t i = 0; i < problem.n_rows(); ++i) {
        double sum = 0, lowest = 0;
        for (std::size_t k = 0; k < K; ++k) {
            sum += q[i * K + k];
            lowest = std::min(lowest, q[i * K + k]);
        }
        if (!(lowest >= 0 && std::abs(sum - 1) <= 1e-9))
            return between(primal, {-std::numeric_limits<double>::infinity()});
    }
    return between(primal, point.value());
}

}  // namespace pegasos
