// clang-format off
// MPU: the Margin Perceptron with Unlearning (Panagiotakopoulos and Tsampouka 2010), with which S3 section 3 compares. Rows
// are reflected, as in S3: y_k stands for label times row.
//
//   a = sum_k N_k y_k,  0 <= N_k <= n_k,      w = a / b,      alpha_k = N_k / b
//   learn     a <- a + y_k, N_k <- N_k + 1    if a . y_k <= b and N_k < n_k
//   unlearn   a <- a - y_k, N_k <- N_k - 1    if a . y_k > (1 + delta) b and N_k > 0
//
// until no row has either to do. N_k counts what row k has added to a. With n_k = b C s_k the alpha_k are in their box.
//
// S3 names the method, its parameter delta and its guarantee; the rest is decided here, and proved:
//
// The unit. Row k has the unit h_k = C s_k / n_k with n_k = ceil(b C s_k), so that n_k units are the box. Where all s_k
// are 1, that is the threshold b = 1/h for all. b = 2 R^2 / delta, R the largest norm: a unit moves the margin of its
// own row z_k = w . y_k by h_k ||y_k||^2 <= delta/2, so that none is learned and unlearned by turns.
//
// The end. Where nothing is to do, a row with N_k < n_k has z_k > 1, and one with N_k > 0 has z_k <= 1 + delta. The gap
//   sum_k [C s_k max(0, 1 - z_k) - alpha_k (1 - z_k)]
// is at most delta sum alpha, as a row within the box adds alpha_k (z_k - 1), and one at its upper end no more. The
// dual is at least (1 - delta)/2 sum alpha, as ||w||^2 = sum alpha_k z_k <= (1 + delta) sum alpha. So the gap is at
// most 2 delta / (1 - delta) of the dual: `tol` for delta = tol / (2 + tol).
//
// That it ends. F = (1 + delta/2) sum alpha - 1/2 ||w||^2 has a bound, and rises with every unit: learning one adds
// h (1 + delta/2 - z - h ||y||^2 / 2) >= h delta/4 where z <= 1, and unlearning one as much where z > 1 + delta.
//
// Several units at once, as many as would come to pass one by one, for one product with the row (S3 footnote 6 has
// these from the paper on MPU): [(1 - z)/(h ||y||^2)] + 1 to learn, [] the integer part, and
// (z - 1 - delta)/(h ||y||^2), rounded up, to unlearn; as far as the box goes.
//
// What is not visited. A row at an end of its box that has nothing to do is left out for a number of epochs, the more
// the further it is from having any (visits.hpp, as for sdca.cpp). A check looks at all rows, and wakes those that have.
//
// delta is halved where a check finds nothing to do and `tol` is not reached, as delta was given and was too large, or
// tol is 0. Then n_k and N_k double, and w stays as it is.
//
// The dual point is alpha. The constant feature is one like the others (S3's rho): there is no free intercept.
// clang-format on
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "base/checks.hpp"
#include "linear/certificate.hpp"
#include "linear/solvers/solve.hpp"
#include "linear/visits.hpp"

namespace pegasos {

namespace {

class Mpu {
public:
    Mpu(const Problem& problem, const MpuOptions& options, Context& context)
        : problem_(problem),
          options_(options),
          context_(context),
          n_rows_(static_cast<double>(problem.n_rows())),
          w_(problem.dimension()),
          counts_(problem.n_rows()),
          visits_(problem.n_rows(), options.blocks, options.seed),
          checks_(options.tol),
          delta_(options.delta) {
        double largest = 0;
        problem.rows.visit([&](const auto& rows) {
            for (std::size_t k = 0; k < rows.n_rows; ++k) largest = std::max(largest, rows.squared_norm(k));
        });
        const double b = 2 * largest / delta_;
        for (std::size_t k = 0; k < counts_.size(); ++k) {
            const double box = problem.C * problem.weights[k];
            counts_[k].most = std::max(std::ceil(b * box), 1.0);
            counts_[k].signed_unit = problem.labels[k] * box / counts_[k].most;
            if (box == 0) visits_.leave_out(k);
        }
    }

    Solution run(const Start& start) {
        if (!start.q.empty()) resume(start.q);
        Solution solution;
        const auto state = [&](State& state) {
            state(solution, visits_, checks_, delta_, linear_, made_);
            state.array(w_.data(), w_.size());
            state.array(counts_.data(), counts_.size());
        };
        context_.resume(state);
        until_ended(solution, [&] {
            for (;;) {
                context_.offer(state);
                visits_.make_order(options_.sequence, options_.max_epochs * n_rows_ - made_);
                const Met met = make_epoch();
                visits_.end_epoch();
                made_ += met.visits;
                const bool out_of_time = context_.monitor.timed_out();
                const bool last = out_of_time || visits_.order().empty() || !options_.sequence.empty() ||
                                  made_ >= options_.max_epochs * n_rows_;
                checks_.met(met.gap);
                const bool due = checks_.due(linear_ - squared_norm(w_) / 2);
                if (last || due || met.wants == 0) {
                    const Bounds now = check(solution);
                    if (!solution.reason.empty() || solution.ends(options_.tol, out_of_time, last)) break;
                    checks_.found(now.primal - now.dual);
                }
            }
        });
        solution.finish(context_, made_ / n_rows_, static_cast<std::uint64_t>(made_), start.t);
        return solution;
    }

private:
    struct Count {
        double learned = 0;      // N_k
        double most = 0;         // n_k
        double signed_unit = 0;  // label times h_k
    };
    /// What an epoch met.
    struct Met {
        double gap = 0;  // by the margins at the visits
        double visits = 0;
        double wants = 0;  // sum of squared distances from the thresholds, of busy rows
    };

    /// Whether a row of margin z has anything to learn or to unlearn,
    bool is_busy(const Count& count, double z) const {
        if (count.signed_unit == 0) return false;
        return z <= 1 ? count.learned < count.most : z > 1 + delta_ && count.learned > 0;
    }
    /// and how far it then is beyond the threshold.
    double beyond(double z) const { return z <= 1 ? 1 - z : z - 1 - delta_; }

    Met make_epoch() {
        context_.monitor.at_epoch(made_ / n_rows_);
        Met met;
        outward_.assign(visits_.order().size(), 0.0f);
        problem_.rows.visit([&](const auto& rows) { met = visit_rows(rows); });
        if (met.wants > 0) {
            const double usual = std::sqrt(met.wants / met.visits);
            for (std::size_t p = 0; p < outward_.size(); ++p)
                if (outward_[p] > 0) visits_.rest(visits_.order()[p], epochs_of_rest(outward_[p], usual));
        }
        return met;
    }

    template <class Rows>
    Met visit_rows(const Rows& rows) {
        Met met;
        const std::vector<RowNumber>& order = visits_.order();
        for (std::size_t p = 0; p < order.size(); ++p) {
            prefetch_ahead(rows, order.data(), p, order.size(), counts_.data());
            const RowNumber k = order[p];
            Count& count = counts_[k];
            const double sign = problem_.labels[k], unit = sign * count.signed_unit,
                         alpha = unit * count.learned;
            const double z = sign * rows.dot(k, w_.data());
            met.gap += unit * count.most * std::max(1 - z, 0.0) - alpha + alpha * z;
            met.visits += 1;
            if (is_busy(count, z)) {
                const double far = beyond(z), units = far / (unit * rows.squared_norm(k));
                const double change = z <= 1 ? std::min(count.most - count.learned, std::floor(units) + 1)
                                             : -std::min(count.learned, std::ceil(units));
                met.wants += far * far;
                count.learned += change;
                linear_ += change * unit;
                rows.add(k, change * count.signed_unit, w_.data());
            } else if (count.learned == 0 || count.learned == count.most) {
                outward_[p] = static_cast<float>(std::abs(z - 1));
            }
            if (context_.monitor.worked(rows.entries(k))) break;
        }
        return met;
    }

    /// Starts from a dual point, as near as units allow.
    void resume(const std::vector<double>& q) {
        problem_.rows.visit([&](const auto& rows) {
            for (std::size_t k = 0; k < q.size(); ++k) {
                Count& count = counts_[k];
                count.learned = std::round(std::clamp(q[k], 0.0, 1.0) * count.most);
                linear_ += count.learned * std::abs(count.signed_unit);
                if (count.learned > 0) rows.add(k, count.learned * count.signed_unit, w_.data());
            }
        });
    }

    /// Bounds now; the solution keeps the best of each. Rows that have something to do are visited next.
    Bounds check(Solution& solution) {
        DualPoint point;
        std::vector<std::uint8_t> busy(counts_.size());
        const auto slopes = [&](std::size_t first, std::size_t last, const double* z, double* q) {
            for (std::size_t k = first, p = 0; k < last; ++k, ++p) {
                const Count& count = counts_[k];
                q[p] = count.learned / count.most;
                busy[k] = is_busy(count, z[p]);
                if (busy[k]) visits_.wake(k);
            }
        };
        const Bounds now =
            LinearPass(problem_, w_, context_).bounds(point, slopes, options_.tol, context_.monitor);
        const auto kept = solution.take(context_, made_ / n_rows_, now);
        if (kept.w) solution.w = w_;
        if (kept.q) solution.q = std::move(point.q);
        if (std::none_of(busy.begin(), busy.end(), [](std::uint8_t one) { return one; })) refine();
        solution.tell(context_);
        return now;
    }

    void refine() {
        if (delta_ < smallest_delta) return;
        delta_ /= 2;
        for (Count& count : counts_) {
            count.most *= 2;
            count.learned *= 2;
            count.signed_unit /= 2;
        }
    }
    static constexpr double smallest_delta = 1e-15;  // below, margins are not that exact

    const Problem& problem_;
    const MpuOptions options_;
    Context& context_;
    const double n_rows_;
    std::vector<double> w_;
    std::vector<Count> counts_;
    Visits visits_;
    Checks checks_;
    std::vector<float> outward_;  // by how much a row at an end of its box has nothing to do
    double delta_, linear_ = 0, made_ = 0;
};

}  // namespace

Solution solve_mpu(const Problem& problem, const MpuOptions& options, const Start& start, Context& context) {
    problem.refuse_free_intercept();
    if (!problem.loss.is<Hinge>()) throw std::invalid_argument("MPU supports the hinge loss alone");
    if (!(options.delta > 0 && options.delta <= 1))
        throw std::invalid_argument("delta must be above 0 and at most 1");
    return Mpu(problem, options, context).run(start);
}

}  // namespace pegasos
