// SDCA: dual coordinate ascent (S0's "stochastic DCA", S3's "DCD"; Hsieh and others 2008).
//
//   maximise D(alpha) = sum_i dual(alpha_i, c_i) - 1/2 ||w||^2,   w = sum_i alpha_i y_i x_i,   c_i = C s_i
//   (losses.hpp; hinge: dual = alpha_i in [0, c_i])
//   visits: coordinate_steps.hpp; rows that rest: visits.hpp
//
// The duality gap is a sum over rows of terms >= 0,
//   P(w) - D(alpha) = sum_i [ c_i loss(z_i) - dual(alpha_i, c_i) + alpha_i z_i ],
// so the margins met during an epoch estimate it for nothing. Only when that estimate promises `tol`, or now
// and then (checks.hpp), is it computed in full, with w recomputed from alpha: that pass is the certificate.
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

#include "linear/certificate.hpp"
#include "linear/solvers/ascent.hpp"
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
          ascent_(problem.dimension(), static_cast<double>(problem.n_rows()), options.tol,
                  Checks(options.tol)),
          visits_(problem.n_rows(), options.blocks, options.seed),
          workers_(team_.size()) {
        const std::size_t n_rows = problem.n_rows();
        ascent_.n_penalized = problem.n_penalized();
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
        if (!start.w.empty()) ascent_.b = problem_.rows.bias * start.w.back();
        const double most = options_.max_epochs * ascent_.n_rows;
        const auto state = [&](State& state) { pass_state(state); };
        context_.resume(state);
        until_ended(ascent_.solution, [&] {
            for (;;) {
                context_.offer(state);
                visits_.make_order(sequence, most - ascent_.visits);
                if (outward_.size() < visits_.order().size()) outward_.resize(visits_.order().size());
                const std::size_t joins = choose_joins();
                const Steps steps = make_epoch(joins);
                visits_.end_epoch();
                if (options_.shrink && !stop_) send_to_rest(steps, joins > 0);
                const bool out_of_time = context_.monitor.timed_out();
                const bool idle = visits_.order().empty();  // as no row has a weight
                const bool last = out_of_time || idle || !sequence.empty() || ascent_.visits >= most;
                ascent_.checks.set_usual(joins > 0 ? 1.2 : 0.9);
                if ((ascent_.end_epoch() || last) && check(out_of_time, last)) break;
            }
        });
        const auto made = static_cast<std::uint64_t>(ascent_.visits);
        ascent_.solution.finish(context_, ascent_.epochs(), made, start.t);
        return std::move(ascent_.solution);
    }

private:
    struct Change {
        RowNumber row;
        double before;
    };
    struct Worker {
        std::vector<double> w;
        std::vector<Change> changes;
        Steps steps;
        double cross = 0, square = 0;  // sums for the line search
    };

    void send_to_rest(const Steps& steps, bool together) {
        const double usual = steps.usual();
        const auto send = [&](std::size_t, std::size_t first, std::size_t last) {
            for (std::size_t p = first; p < last; ++p)
                if (outward_[p] > 0) visits_.rest(visits_.order()[p], epochs_of_rest(outward_[p], usual));
        };
        if (together)
            team_.run_ranges(visits_.order().size(), send);
        else
            send(0, 0, visits_.order().size());
    }

    /// Between two epochs.
    void pass_state(State& state) {
        state(ascent_, visits_);
        state.array(coordinates_.get(), problem_.n_rows());
    }

    /// Starts from a dual point: alpha_i = C s_i q_i.
    void resume(const std::vector<double>& q) {
        Sum linear;
        problem_.rows.visit([&](const auto& rows) {
            for (std::size_t i = 0; i < q.size(); ++i) {
                Coordinate& c = coordinates_[i];
                const double cost = c.cost();
                if (cost == 0) continue;
                c.alpha = problem_.loss.clip(q[i]) * cost;
                if (c.alpha != 0) rows.add(i, c.sign() * c.alpha, ascent_.w.data());
                linear.add(problem_.loss.dual(c.alpha, cost, problem_.labels[i]));
            }
        });
        ascent_.linear = linear.value();
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
        ascent_.multipliers = Multipliers(bias, rho, problem_.free_intercept);
        for (Coordinate& c : coordinates) c.square += ascent_.multipliers.extra_square();
    }

    /// How often the threads' changes are joined in this epoch; 0 where one thread makes it.
    std::size_t choose_joins() const {
        if (team_.size() == 1) return 0;
        if (options_.joins > 0) return options_.joins;
        const double entries = static_cast<double>(visits_.order().size()) * mean_entries();
        const double between = std::max(8.0 * static_cast<double>(ascent_.dimension), 50'000.0);
        const double joins = entries / (static_cast<double>(team_.size()) * between);
        return joins < 12 ? 0 : static_cast<std::size_t>(std::min(joins, 32.0));
    }

    Steps make_epoch(std::size_t joins) {
        context_.monitor.at_epoch(ascent_.epochs());
        stop_ = context_.monitor.look();  // the calling thread may have no rows of its own
        return joins == 0 ? make_epoch_alone() : make_epoch_together(joins);
    }

    Steps make_epoch_alone() {
        Worker& worker = workers_[0];
        ascent_.mean_w.clear();
        visit<false>(worker, 0, 0, visits_.order().size(), ascent_.w.data(), 1);
        ascent_.add(worker.steps);
        return worker.steps;
    }

    Steps make_epoch_together(std::size_t rounds) {
        const std::size_t K = team_.size(), n = visits_.order().size(), d = ascent_.dimension;
        const Multipliers& multipliers = ascent_.multipliers;
        const double bias = problem_.rows.bias, b = ascent_.b;
        std::vector<double>&w = ascent_.w, &mean_w = ascent_.mean_w;
        delta_.assign(d, 0.0);
        mean_w.assign(d, 0.0);
        ascent_.mean_b = 0;
        const std::size_t first_kept = (rounds + 1) / 2;  // of the w after so many joins
        std::size_t kept = 0;
        const auto keep_b = [&] {
            ascent_.mean_b += multipliers.intercept(b, w.back());
            ++kept;
        };
        for (Worker& worker : workers_) {
            worker.w.resize(d);
            worker.changes.clear();
        }
        Steps total;
        double g = 1, &caution = ascent_.caution;
        for (std::size_t r = 0; r < rounds && !stop_; ++r) {
            team_.run([&](std::size_t k) {
                Worker& worker = workers_[k];
                take_back(worker, g);
                for (std::size_t j = 0; j < d; ++j) worker.w[j] = w[j] + g * delta_[j];
                const std::size_t part = r * K + k, parts = rounds * K;
                visit<true>(worker, k, n * part / parts, n * (part + 1) / parts, worker.w.data(), caution);
            });
            team_.run_ranges(d, [&](std::size_t k, std::size_t first, std::size_t last) {
                double cross = 0, square = 0;
                for (std::size_t j = first; j < last; ++j) {
                    w[j] += g * delta_[j];
                    if (r >= first_kept) mean_w[j] += w[j];
                    double change = 0;
                    for (const Worker& worker : workers_) change += worker.w[j] - w[j];
                    delta_[j] = change / caution;
                    cross += w[j] * delta_[j];
                    square += delta_[j] * delta_[j];
                }
                if (last == d && bias > 0) {  // what the intercept is apart from a constant feature
                    const double change = delta_[d - 1] / bias;
                    cross += (multipliers.kappa * b + multipliers.slope * w[d - 1]) * change;
                    square += multipliers.slope * delta_[d - 1] * change;
                }
                workers_[k].cross = cross;
                workers_[k].square = square;
            });
            if (r >= first_kept) keep_b();
            double rise = 0, square = 0;
            for (const Worker& worker : workers_) {
                rise += worker.steps.linear - worker.cross;
                square += worker.square;
            }
            const double best = square > 0 ? std::max(rise / square, 0.0) : 1;
            g = std::min(best, 1.0);
            for (Worker& worker : workers_) {
                worker.steps.linear *= g;
                total.add(worker.steps);
            }
            caution =
                std::clamp(caution / std::sqrt(std::clamp(best, 0.25, 4.0)), 1.0, static_cast<double>(K));
        }
        team_.run([&](std::size_t k) { take_back(workers_[k], g); });
        for (std::size_t j = 0; j < d; ++j) w[j] += g * delta_[j];
        keep_b();
        for (std::size_t j = 0; j < d; ++j) mean_w[j] = (mean_w[j] + w[j]) / static_cast<double>(kept);
        ascent_.mean_b /= static_cast<double>(kept);
        ascent_.add(total);
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
    void visit(Worker& worker, std::size_t k, std::size_t first, std::size_t last, double* w,
               double caution) {
        const auto changing = [&](RowNumber i, double before) {
            if constexpr (Log) worker.changes.push_back({i, before});
        };
        const auto worked = [&](std::size_t entries) {
            if (k == 0 && context_.monitor.worked(entries)) stop_ = true;
            return stop_.load(std::memory_order_relaxed) || (Log && team_.failed());
        };
        problem_.rows.visit([&](const auto& rows) {
            problem_.loss.visit([&](const auto& loss) {
                worker.steps = visit_rows(
                    rows, loss, InCoordinates(coordinates_.get()), problem_.labels, visits_.order(), first,
                    last, Margin(ascent_.multipliers, ascent_.b), caution, ascent_.dimension > cached_weights,
                    w, ascent_.dimension - 1, outward_.data(), changing, worked);
            });
        });
    }

    /// Computes bounds; whether they end the run.
    bool check(bool out_of_time, bool last) {
        DualPoint point;
        ascent_.begin_check();
        const auto slopes = [&](std::size_t first, std::size_t end, const double* z, double* q) {
            problem_.loss.visit([&](const auto& loss) {
                for (std::size_t i = first, p = 0; i < end; ++i, ++p) {
                    const Coordinate& c = coordinates_[i];
                    const double cost = c.cost();
                    q[p] = cost > 0 ? loss.clip(c.alpha / cost) : 0;
                    if (cost > 0 && loss.pull(c.alpha, cost, z[p], problem_.labels[i]).projected != 0)
                        visits_.wake(i);  // its rest was too long
                }
            });
        };
        const Bounds now = LinearPass(problem_, ascent_.weights(), context_, true)
                               .bounds(point, slopes, options_.tol, context_.monitor);
        return ascent_.take(context_, now, ascent_.weights(), std::move(point.q), out_of_time, last);
    }

    const Problem& problem_;
    const SdcaOptions options_;
    Context& context_;
    Team& team_;
    Ascent ascent_;
    std::vector<double> delta_;
    std::unique_ptr<Coordinate[]> coordinates_;  // filled by the threads that will read them
    Visits visits_;
    std::vector<float> outward_;  // by how much the gradient of a row at a bound points out of the box
    std::vector<Worker> workers_;
    std::atomic<bool> stop_ = false;
};

}  // namespace

Solution solve_sdca(const Problem& problem, const SdcaOptions& options, const Start& start,
                    Context& context) {
    return Sdca(problem, options, context).run(start);
}

}  // namespace pegasos
