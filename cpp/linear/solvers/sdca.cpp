// SDCA: dual coordinate ascent (S0's "stochastic DCA", S3's "DCD"; Hsieh and others 2008).
//
//   maximise D(alpha) = sum_i dual(alpha_i, c_i) - 1/2 ||w||^2,   w = sum_i alpha_i y_i x_i,   c_i = C s_i
//   (losses.hpp; hinge: dual = alpha_i in [0, c_i])
//   visit row i:  z = y_i <w, x_i>,   alpha_i <- the best one,   w <- w + (change) y_i x_i
//   (hinge: alpha_i <- clamp(alpha_i + (1 - z) / ||x_i||^2); regression has 1 in place of the signs y_i)
//
// The duality gap is a sum over rows of terms >= 0,
//   P(w) - D(alpha) = sum_i [ c_i loss(z_i) - dual(alpha_i, c_i) + alpha_i z_i ],
// so the margins met during an epoch estimate it for nothing. Only when that estimate promises `tol`, or now
// and then (checks.hpp), is it computed in full, with w recomputed from alpha: that pass is the certificate.
//
// Rest: most variables soon sit at a bound with a gradient that points out of the box, and a visit would
// change nothing. Such a row is left out for a number of epochs: that gradient over the usual one (root mean
// square) of the rows visited. What is far from changing is seldom looked at, and all of it again and again;
// no row is left out for good, unlike in Hsieh and others' shrinking. A full check wakes those it finds
// wanting.
//
// Order: a new random permutation each epoch; with `blocks` of runs of 64 neighbouring rows, so that memory
// is read in stretches. Rows in random order do as well that way; where neighbours are alike it must be
// false.
//
// Intercept: by the method of multipliers (multipliers.hpp). The last entry of w_ is B sigma (B = 1 for a
// free intercept).
//
// Threads: each works on rows of its own, with a copy of w of its own. Several times an epoch the changes are
// joined: with delta the sum of the copies' changes, w <- w + g delta and alpha accordingly, g in [0, 1]
// maximising the dual along the common direction, in closed form, with (1 - g) sum dual(before) +
// g sum dual(after) for its first part, which is no more than that (for hinge equal). g = 1/K would never
// lower the dual (concavity), so the best g does not. As in CoCoA+ each copy takes its own changes `caution`
// times, as if the other threads made the same ones; caution is between 1 and K and follows the best g. To
// join costs as much as some thousand visits, and less of it makes worse steps: an epoch of few rows is left
// to one thread. Each copy overshoots a little, one way at one join and another way at the next, which the
// primal value at the last w shows much more than the dual: after such an epoch P is computed at the mean of
// the w of the joins of its second half (on text at C = 1 that takes a quarter off the time). The result
// depends on the seed and the number of threads, not on timing.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <span>

#include "base/checks.hpp"
#include "base/multipliers.hpp"
#include "linear/certificate.hpp"
#include "linear/solvers/solve.hpp"
#include "linear/visits.hpp"

namespace pegasos {

namespace {

class Sdca {
public:
    Sdca(const Problem& problem, const SdcaOptions& options, Context& context)
        : problem_(problem),
          options_(options),
          context_(context),
          team_(context.team),
          w_(problem.dimension()),
          visits_(problem.n_rows(), options.blocks, options.seed),
          checks_(options.tol),
          workers_(team_.size()) {
        const std::size_t n_rows = problem.n_rows();
        coordinates_ = std::make_unique_for_overwrite<Coordinate[]>(n_rows);
        team_.run_ranges(n_rows, [&](std::size_t, std::size_t first, std::size_t last) {
            problem.rows.visit([&](const auto& rows) {
                for (std::size_t i = first; i < last; ++i)
                    coordinates_[i] = {0, problem.sign(i) * problem.C * problem.weights[i],
                                       rows.squared_norm(i)};
            });
        });
        for (std::size_t i = 0; i < n_rows; ++i)
            if (coordinates_[i].signed_cost == 0) visits_.leave_out(i);
        if (problem.rows.bias > 0) set_up_intercept();
    }

    Solution run(const Start& start) {
        const std::vector<RowNumber>& sequence = options_.sequence;
        if (!start.q.empty()) resume(start.q);
        if (!start.w.empty()) b_ = problem_.rows.bias * start.w.back();
        const double n_rows = static_cast<double>(problem_.n_rows());
        Solution solution;
        const auto state = [&](State& state) { pass_state(state, solution); };
        context_.resume(state);
        until_ended(solution, [&] {
            for (;;) {
                context_.offer(state);
                visits_.make_order(sequence, options_.max_epochs * n_rows - made_);
                if (outward_.size() < visits_.order().size()) outward_.resize(visits_.order().size());
                const std::size_t joins = choose_joins();
                const Stats stats = make_epoch(joins);
                visits_.end_epoch();
                made_ += stats.visits;
                b_ = multipliers_.intercept(b_, w_.back());
                if (options_.shrink && !stop_) send_to_rest(stats, joins > 0);
                const bool out_of_time = context_.monitor.timed_out();
                const bool idle = visits_.order().empty();  // as no row has a weight
                const bool last =
                    out_of_time || idle || !sequence.empty() || made_ >= options_.max_epochs * n_rows;
                const double dual = linear_ - squared_norm(w_, problem_.n_penalized()) / 2;
                checks_.set_usual(joins > 0 ? 1.2 : 0.9);
                checks_.met(stats.gap);
                if (last || checks_.due(dual)) {
                    const Bounds now = check(solution);
                    if (!solution.reason.empty() || solution.ends(options_.tol, out_of_time, last)) break;
                    checks_.found(now.primal - now.dual);
                }
            }
        });
        solution.finish(context_, made_ / n_rows, static_cast<std::uint64_t>(made_), start.t);
        return solution;
    }

private:
    struct Coordinate {
        double alpha;
        double signed_cost;  // y_i C s_i
        double square;       // ||x_i||^2
    };
    struct Change {
        RowNumber row;
        double before;
    };
    struct Stats {
        double gap = 0;     // estimate, from the margins met
        double linear = 0;  // change of sum dual(alpha)
        double visits = 0;
        double violation = 0;  // sum of squared projected gradients

        void join(const Stats& other) {
            gap += other.gap;
            visits += other.visits;
            violation += other.violation;
        }
    };
    struct Worker {
        std::vector<double> w;
        std::vector<Change> changes;
        Stats stats;
        double cross = 0, square = 0;  // sums for the line search
    };
    static constexpr double longest_rest = 255;

    void send_to_rest(const Stats& stats, bool together) {
        const double usual = std::sqrt(stats.violation / stats.visits);
        const auto send = [&](std::size_t, std::size_t first, std::size_t last) {
            for (std::size_t p = first; p < last; ++p)
                if (outward_[p] > 0)
                    visits_.rest(visits_.order()[p], std::min(2 * outward_[p] / usual, longest_rest));
        };
        if (together)
            team_.run_ranges(visits_.order().size(), send);
        else
            send(0, 0, visits_.order().size());
    }

    /// Between two epochs.
    void pass_state(State& state, Solution& solution) {
        state(solution, visits_, checks_, caution_, b_, linear_, made_, mean_w_, mean_b_);
        state.array(w_.data(), w_.size());
        state.array(coordinates_.get(), problem_.n_rows());
    }

    /// Starts from a dual point: alpha_i = C s_i q_i.
    void resume(const std::vector<double>& q) {
        Sum linear;
        problem_.rows.visit([&](const auto& rows) {
            for (std::size_t i = 0; i < q.size(); ++i) {
                Coordinate& c = coordinates_[i];
                const double cost = std::abs(c.signed_cost);
                if (cost == 0) continue;
                c.alpha = problem_.loss.clip(q[i]) * cost;
                if (c.alpha != 0) rows.add(i, std::copysign(1.0, c.signed_cost) * c.alpha, w_.data());
                linear.add(problem_.loss.dual(c.alpha, cost, problem_.labels[i]));
            }
        });
        linear_ = linear.value();
    }

    void set_up_intercept() {
        const double bias = problem_.rows.bias;
        const std::span coordinates(coordinates_.get(), problem_.n_rows());
        double rho = options_.rho;
        if (rho == 0) {
            double squares = 0;
            for (const Coordinate& c : coordinates) squares += c.square - bias * bias;
            rho = Multipliers::choose_rho(squares, static_cast<double>(problem_.n_rows()),
                                          problem_.C * problem_.total_weight);
        }
        multipliers_ = Multipliers(bias, rho, problem_.free_intercept);
        for (Coordinate& c : coordinates) c.square += multipliers_.extra_square();
    }

    /// How often the threads' changes are joined in this epoch; 0 where one thread makes it.
    std::size_t choose_joins() const {
        if (team_.size() == 1) return 0;
        if (options_.joins > 0) return options_.joins;
        const double entries = static_cast<double>(visits_.order().size()) * mean_entries();
        const double between = std::max(8.0 * static_cast<double>(w_.size()), 50'000.0);
        const double joins = entries / (static_cast<double>(team_.size()) * between);
        return joins < 12 ? 0 : static_cast<std::size_t>(std::min(joins, 32.0));
    }

    Stats make_epoch(std::size_t joins) {
        context_.monitor.at_epoch(made_ / static_cast<double>(problem_.n_rows()));
        stop_ = context_.monitor.look();  // the calling thread may have no rows of its own
        return joins == 0 ? make_epoch_alone() : make_epoch_together(joins);
    }

    Stats make_epoch_alone() {
        Worker& worker = workers_[0];
        worker.stats = {};
        mean_w_.clear();
        visit_rows<false>(worker, 0, 0, visits_.order().size(), w_.data(), 1);
        linear_ += worker.stats.linear;
        return worker.stats;
    }

    Stats make_epoch_together(std::size_t rounds) {
        const std::size_t K = team_.size(), n = visits_.order().size(), d = w_.size();
        const double bias = problem_.rows.bias;
        delta_.assign(d, 0.0);
        mean_w_.assign(d, 0.0);
        mean_b_ = 0;
        const std::size_t first_kept = (rounds + 1) / 2;  // of the w after so many joins
        std::size_t kept = 0;
        const auto keep_b = [&] {
            mean_b_ += multipliers_.intercept(b_, w_.back());
            ++kept;
        };
        for (Worker& worker : workers_) {
            worker.w.resize(d);
            worker.changes.clear();
        }
        Stats total;
        double g = 1;
        for (std::size_t r = 0; r < rounds && !stop_; ++r) {
            team_.run([&](std::size_t k) {
                Worker& worker = workers_[k];
                take_back(worker, g);
                for (std::size_t j = 0; j < d; ++j) worker.w[j] = w_[j] + g * delta_[j];
                worker.stats = {};
                const std::size_t part = r * K + k, parts = rounds * K;
                visit_rows<true>(worker, k, n * part / parts, n * (part + 1) / parts, worker.w.data(),
                                 caution_);
            });
            team_.run_ranges(d, [&](std::size_t k, std::size_t first, std::size_t last) {
                double cross = 0, square = 0;
                for (std::size_t j = first; j < last; ++j) {
                    w_[j] += g * delta_[j];
                    if (r >= first_kept) mean_w_[j] += w_[j];
                    double change = 0;
                    for (const Worker& worker : workers_) change += worker.w[j] - w_[j];
                    delta_[j] = change / caution_;
                    cross += w_[j] * delta_[j];
                    square += delta_[j] * delta_[j];
                }
                if (last == d && bias > 0) {  // what the intercept is apart from a constant feature
                    const double change = delta_[d - 1] / bias;
                    cross += (multipliers_.kappa * b_ + multipliers_.slope * w_[d - 1]) * change;
                    square += multipliers_.slope * delta_[d - 1] * change;
                }
                workers_[k].cross = cross;
                workers_[k].square = square;
            });
            if (r >= first_kept) keep_b();
            double rise = 0, square = 0;
            for (const Worker& worker : workers_) {
                rise += worker.stats.linear - worker.cross;
                square += worker.square;
                total.join(worker.stats);
            }
            const double best = square > 0 ? std::max(rise / square, 0.0) : 1;
            g = std::min(best, 1.0);
            for (const Worker& worker : workers_) linear_ += g * worker.stats.linear;
            caution_ =
                std::clamp(caution_ / std::sqrt(std::clamp(best, 0.25, 4.0)), 1.0, static_cast<double>(K));
        }
        team_.run([&](std::size_t k) { take_back(workers_[k], g); });
        for (std::size_t j = 0; j < d; ++j) w_[j] += g * delta_[j];
        keep_b();
        for (std::size_t j = 0; j < d; ++j) mean_w_[j] = (mean_w_[j] + w_[j]) / static_cast<double>(kept);
        mean_b_ /= static_cast<double>(kept);
        return total;
    }

    /// Keeps the share g of a worker's changes to alpha.
    void take_back(Worker& worker, double g) {
        if (g < 1)
            for (const auto& [row, before] : worker.changes) {
                double& alpha = coordinates_[row].alpha;
                alpha = before + g * (alpha - before);
            }
        worker.changes.clear();
    }

    double mean_entries() const {
        double sum = 0;
        const std::size_t n = problem_.n_rows(), step = n / 100 + 1;
        std::size_t count = 0;
        problem_.rows.visit([&](const auto& rows) {
            for (std::size_t i = 0; i < n; i += step, ++count) sum += static_cast<double>(rows.entries(i));
        });
        return sum / static_cast<double>(count);
    }

    /// The visits at [first, last) of the order, by thread k. Log: the changes are noted, to be taken back in
    /// part.
    template <bool Log>
    void visit_rows(Worker& worker, std::size_t k, std::size_t first, std::size_t last, double* w,
                    double caution) {
        problem_.rows.visit([&](const auto& rows) {
            problem_.loss.visit([&](const auto& loss) {
                worker.stats = visit_rows<Log>(rows, loss, worker.changes, k, first, last, w, caution);
            });
        });
    }

    template <bool Log, class Rows, class Loss>
    Stats visit_rows(const Rows& rows, const Loss& loss, std::vector<Change>& changes, std::size_t k,
                     std::size_t first, std::size_t last, double* w, double caution) {
        Stats stats;
        const std::vector<RowNumber>& order = visits_.order();
        const std::size_t end = order.size(), sigma = w_.size() - 1;
        const double shift = multipliers_.kappa * b_, slope = multipliers_.slope;
        const bool cold = w_.size() > cached_weights;
        const auto estimates = for_estimates(loss);
        for (std::size_t p = first; p < last; ++p) {
            prefetch_ahead(rows, order.data(), p, end, coordinates_.get());
            if (cold && p + 2 < end) rows.prefetch_weights(order[p + 2], w);
            const RowNumber i = order[p];
            Coordinate& c = coordinates_[i];
            const double sign = std::copysign(1.0, c.signed_cost), cost = std::abs(c.signed_cost),
                         alpha = c.alpha, y = Loss::regression ? problem_.labels[i] : sign;
            const double z = sign * (rows.dot(i, w) + shift + slope * w[sigma]);
            const double dual = estimates.dual(alpha, cost, y);
            stats.gap += cost * estimates.value(z, y) - dual + alpha * z;
            const auto [projected, outward] = estimates.pull(alpha, cost, z, y);
            outward_[p] = static_cast<float>(outward);
            stats.violation += projected * projected;
            if (std::abs(projected) > 1e-14) {
                const double next = loss.ascend(alpha, cost, z, caution * c.square, y);
                if (next != alpha) {
                    if constexpr (Log) changes.push_back({i, alpha});
                    c.alpha = next;
                    stats.linear += estimates.dual(next, cost, y) - dual;
                    rows.add(i, caution * sign * (next - alpha), w);
                }
            }
            stats.visits += 1;
            if (k == 0) {
                if (context_.monitor.worked(rows.entries(i))) stop_ = true;
            }
            if (stop_.load(std::memory_order_relaxed) || (Log && team_.failed())) break;
        }
        return stats;
    }

    /// Bounds now; the solution keeps the best of each.
    Bounds check(Solution& solution) {
        DualPoint point;
        std::vector<double> w = mean_w_.empty() ? w_ : mean_w_;
        if (problem_.rows.bias > 0) w.back() = (mean_w_.empty() ? b_ : mean_b_) / problem_.rows.bias;
        const auto slopes = [&](std::size_t first, std::size_t last, const double* z, double* q) {
            problem_.loss.visit([&](const auto& loss) {
                for (std::size_t i = first, p = 0; i < last; ++i, ++p) {
                    const Coordinate& c = coordinates_[i];
                    const double cost = std::abs(c.signed_cost);
                    q[p] = cost > 0 ? loss.clip(c.alpha / cost) : 0;
                    if (cost > 0 && loss.pull(c.alpha, cost, z[p], problem_.labels[i]).projected != 0)
                        visits_.wake(i);  // its rest was too long
                }
            });
        };
        const Bounds now =
            LinearPass(problem_, w, context_, true).bounds(point, slopes, options_.tol, context_.monitor);
        solution.take(context_, made_ / static_cast<double>(problem_.n_rows()), now, std::move(w),
                      std::move(point.q));
        return now;
    }

    const Problem& problem_;
    const SdcaOptions options_;
    Context& context_;
    Team& team_;
    std::vector<double> w_, delta_;
    std::unique_ptr<Coordinate[]> coordinates_;  // filled by the threads that will read them
    Visits visits_;
    Checks checks_;
    std::vector<float> outward_;  // by how much the gradient of a row at a bound points out of the box
    std::vector<Worker> workers_;
    std::atomic<bool> stop_ = false;
    double caution_ = 1;
    Multipliers multipliers_;
    double b_ = 0;                // of the intercept
    std::vector<double> mean_w_;  // of the joins of the last epoch; empty where one thread made it
    double mean_b_ = 0;
    double linear_ = 0, made_ = 0;
};

}  // namespace

Solution solve_sdca(const Problem& problem, const SdcaOptions& options, const Start& start,
                    Context& context) {
    return Sdca(problem, options, context).run(start);
}

}  // namespace pegasos
