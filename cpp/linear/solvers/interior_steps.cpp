#include "linear/solvers/interior_steps.hpp"

#include <cmath>
#include <limits>
#include <tuple>

namespace pegasos {

namespace {

constexpr double nearly = 0.995;  // of the way to the nearest bound

}  // namespace

InteriorSteps::InteriorSteps(const Problem& problem, Context& context)
    : problem_(problem),
      context_(context),
      team_(context.team),
      d_(problem.dimension()),
      squared_(problem.loss.curvature > 0),
      width_(problem.loss.corners.width),
      w_(d_),
      best_w_(d_),
      best_q_(problem.n_rows()),
      matrix_(problem, context),
      dw_(d_),
      right_(d_),
      corrected_(d_),
      parts_(team_.size()) {
    for (std::size_t i = 0; i < problem.n_rows(); ++i)
        (problem.labels[i] > 0 ? positive_ : negative_) += problem.weights[i];
    for (Part& part : parts_)
        for (auto* sum : part.vectors()) sum->resize(d_);
}

void InteriorSteps::take_rows(FunctionRef<bool(std::size_t)> chosen) {
    rows_.take(problem_, best_q_, chosen);
    n_ = rows_.size();
    for (auto* vector : {&alpha_, &beta_, &p_, &xi_, &D_, &g_, &dalpha_, &dp_, &dxi_}) vector->resize(n_);
    best_ = {std::numeric_limits<double>::infinity(), 0};
    products_ = gap_now_ = step_ = taken_ = 0;
}

void InteriorSteps::begin() {
    std::fill(w_.begin(), w_.end(), 0.0);
    for (std::size_t i = 0; i < n_; ++i) {
        const double size = std::max(std::abs(rows_.threshold[i]), 1.0);
        alpha_[i] = beta_[i] = squared_ ? rows_.c[i] * size : rows_.c[i] / 2;
        p_[i] = 0.5 * size;
        xi_[i] = 1.5 * size;
    }
}

bool InteriorSteps::read_rows() {
    matrix_.clear();
    const bool complete = pass(matrix_.adders(), [&](Part& part, std::size_t first, std::size_t last) {
        if (squared_)
            read_block<true, false>(part, first, last);
        else if (width_ > 0)
            read_block<false, true>(part, first, last);
        else
            read_block<false, false>(part, first, last);
        each_row(first, last, [&](const auto& typed, std::size_t row, std::size_t i) {
            double* u = part.u[problem_.free_intercept && rows_.y[i] > 0].data();
            typed.add(row, rows_.y[i] * alpha_[i], u);
            typed.add(row, rows_.y[i] * D_[i] * g_[i], part.predictor.data());
        });
        matrix_.add(
            static_cast<std::size_t>(&part - parts_.data()), first, last,
            [&](std::size_t i) { return rows_.numbers[i]; }, [&](std::size_t i) { return D_[i]; });
    });
    step_ = 0;
    if (!complete) return false;
    matrix_.join();
    take_bounds();
    return true;
}

/// The step taken, and what a block has in the bounds; D, and g of the predictor.
template <bool Squared, bool Rounded>
void InteriorSteps::read_block(Part& part, std::size_t first, std::size_t last) {
    advance<Squared>(first, last);
    double z[block_rows];
    margins(first, last, w_, z);
    for (std::size_t i = first; i < last; ++i) g_[i] = rows_.threshold[i] - z[i - first];
    double loss = 0, alphas = 0, balance = 0, linear = 0, difference = 0, products = 0;
#pragma omp simd reduction(+ : loss, alphas, balance, linear, difference, products)
    for (std::size_t i = first; i < last; ++i) {
        const double alpha = alpha_[i], p = p_[i], beyond = g_[i] > 0 ? g_[i] : 0;
        double own = rows_.threshold[i] * alpha;
        if constexpr (Squared) {
            const double half = alpha / (2 * rows_.c[i]);
            own -= alpha * half / 2;
            loss += rows_.c[i] * beyond * beyond;
            products += alpha * p;
            D_[i] = alpha / (p + half);
            g_[i] -= half;
        } else {
            const double beta = beta_[i], xi = xi_[i];
            products += alpha * p + beta * xi;
            if constexpr (Rounded) {
                const double round = std::min(beyond, width_), bend = width_ / rows_.c[i];
                own -= alpha * alpha * bend / 2;
                loss += rows_.c[i] * (round * round / (2 * width_) + (beyond - round));
                D_[i] = alpha * beta / (xi * alpha + p * beta + bend * alpha * beta);
                g_[i] -= alpha * bend;
            } else {
                loss += rows_.c[i] * beyond;
                D_[i] = alpha * beta / (xi * alpha + p * beta);
            }
        }
        alphas += alpha;
        balance += rows_.y[i] * alpha;
        linear += own;
        difference += rows_.y[i] * own;
    }
    part.loss.add(loss);
    part.products.add(products);
    part.alpha[0].add((alphas - balance) / 2);
    part.alpha[1].add((alphas + balance) / 2);
    part.linear[0].add((linear - difference) / 2);
    part.linear[1].add((linear + difference) / 2);
}

bool InteriorSteps::make_step() {
    matrix_.solver().factor();
    matrix_.solver().solve(right_, dw_);
    if (!pass(team_.size(), [&](Part& part, std::size_t first, std::size_t last) {
            squared_ ? predict<true>(part, first, last) : predict<false>(part, first, last);
        }))
        return false;
    Sum cross;
    corrected_ = right_;
    for (const Part& part : parts_) cross.add(part.cross.value());
    const double free = std::min(1.0, 1 / nearest());
    const double left = ((1 - free) * products_ + free * free * cross.value()) / products_;
    // Products smaller than tol asks for would only cost digits: D grows as they fall.
    const double least = std::max(0.5 * goal_, 1e-15) * best_.primal;
    double sum = std::max(left * left * left * products_, std::min(least, products_));
    // What the gap has beyond the products is the error in R w = sum alpha a. Where full steps leave one,
    // it is rounding, of the order D^2, 1 / sum^2: the best sum balances both.
    const double error = gap_now_ - products_;
    if (taken_ > 0.999 && error > products_)
        sum = std::max(sum, std::cbrt(2 * error * products_ * products_));
    const double target = sum / ((squared_ ? 1 : 2) * static_cast<double>(n_));
    for (const Part& part : parts_)
        for (std::size_t j = 0; j < d_; ++j) corrected_[j] += target * part.centre[j] + part.second[j];
    matrix_.solver().solve(corrected_, dw_);
    if (!pass(team_.size(), [&](Part& part, std::size_t first, std::size_t last) {
            squared_ ? correct<true>(part, first, last, target) : correct<false>(part, first, last, target);
        }))
        return false;
    taken_ = step_ = std::min(1.0, nearly / nearest());
    for (std::size_t j = 0; j < d_; ++j) w_[j] += step_ * dw_[j];
    return std::isfinite(squared_norm(w_)) && step_ > 1e-10;
}

/// task(part, first, last) for the rows [first, last), a block at a time; false when the time was up.
bool InteriorSteps::pass(std::size_t threads, Task task) {
    context_.monitor.at_epoch(passes_);
    team_.run([&](std::size_t k) {
        if (k >= threads) return;
        Part& part = parts_[k];
        part.clear();
        const std::size_t end = n_ * (k + 1) / threads;
        for (std::size_t first = n_ * k / threads; first < end; first += block_rows) {
            const std::size_t last = std::min(first + block_rows, end);
            task(part, first, last);
            if (k == 0) {
                std::size_t work = 0;
                each_row(first, last, [&](const auto& typed, std::size_t row, std::size_t) {
                    work += typed.entries(row);
                });
                if (context_.monitor.worked(work)) stop_ = true;
            }
            if (stop_.load(std::memory_order_relaxed) || team_.failed()) return;
        }
    });
    if (stop_) return false;
    passes_ += 1;
    return true;
}

/// f(typed rows, number of the row in the data, i) for a block.
template <class F>
void InteriorSteps::each_row(std::size_t first, std::size_t last, F f) const {
    problem_.rows.visit([&](const auto& typed) {
        for (std::size_t i = first; i < last; ++i) f(typed, rows_.numbers[i], i);
    });
}

/// <v, a_i> of a block.
void InteriorSteps::margins(std::size_t first, std::size_t last, const std::vector<double>& v,
                            double* z) const {
    each_row(first, last, [&](const auto& typed, std::size_t row, std::size_t i) {
        z[i - first] = rows_.y[i] * typed.dot(row, v.data());
    });
}

/// alpha, beta, p, xi: the step found last.
template <bool Squared>
void InteriorSteps::advance(std::size_t first, std::size_t last) {
    if (step_ == 0) return;
    const double t = step_;
#pragma omp simd
    for (std::size_t i = first; i < last; ++i) {
        alpha_[i] += t * dalpha_[i];
        p_[i] += t * dp_[i];
        if constexpr (!Squared) {
            beta_[i] -= t * dalpha_[i];
            xi_[i] += t * dxi_[i];
        }
    }
}

/// The bounds at w and alpha, and the right-hand side.
void InteriorSteps::take_bounds() {
    Sum loss, linear[2], alpha[2], products;
    std::vector<double> u[2] = {rows_.kept[0], rows_.kept[1]};
    std::fill(right_.begin(), right_.end(), 0.0);
    for (int k = 0; k < 2; ++k) {
        loss.add(rows_.kept_cost[k]);
        linear[k].add(rows_.kept_cost[k]);
        alpha[k].add(rows_.kept_cost[k]);
        for (std::size_t j = 0; j < d_; ++j) loss.add(-rows_.kept[k][j] * w_[j]);
    }
    for (const Part& part : parts_) {
        loss.add(part.loss.value());
        products.add(part.products.value());
        for (int k = 0; k < 2; ++k) {
            linear[k].add(part.linear[k].value());
            alpha[k].add(part.alpha[k].value());
            for (std::size_t j = 0; j < d_; ++j) u[k][j] += part.u[k][j];
        }
        for (std::size_t j = 0; j < d_; ++j) right_[j] += part.predictor[j];
    }
    products_ = products.value();
    for (std::size_t j = 0; j < d_; ++j)
        right_[j] += u[0][j] + u[1][j] - (j < problem_.n_penalized() ? w_[j] : 0);

    const double primal = squared_norm(w_, problem_.n_penalized()) / 2 + loss.value();
    double factors[2] = {1, 1};
    if (problem_.free_intercept)
        std::tie(factors[0], factors[1]) = balance(alpha[0].value(), alpha[1].value());
    for (std::size_t j = 0; j < d_; ++j) u[0][j] = factors[0] * u[0][j] + factors[1] * u[1][j];
    const double dual = factors[0] * linear[0].value() + factors[1] * linear[1].value() -
                        squared_norm(u[0], problem_.n_penalized()) / 2;
    gap_now_ = primal - dual;
    if (primal < best_.primal) {
        best_.primal = primal;
        best_.above = allowance_above(primal, loss.value());
        best_w_ = w_;
    }
    if (dual > best_.dual) {
        best_.dual = dual;
        best_.below = allowance_below(linear[0].value() + linear[1].value(),
                                      squared_norm(u[0], problem_.n_penalized()));
        const bool regression = problem_.loss.regression;
        const double above = problem_.loss.corners.above, below = problem_.loss.corners.below;
        const std::size_t sides = regression ? 2 : 1;
        team_.run_ranges(n_ / sides, [&](std::size_t, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i)
                best_q_[rows_.numbers[sides * i]] =
                    regression ? above * share(2 * i) - below * share(2 * i + 1) : share(i);
        });
    }
}

// What rounding may have done to the bounds of a pass over all rows, in which u, losses and duals are
// plain sums of blocks, or of all rows: certificate.hpp, with sums known beforehand in place of what a
// pass would find. 0 <= alpha <= c; where alpha has no such bound, sum alpha^2 / (4 c) is at most a^2
// with a = sqrt(t) + sqrt(t + |linear|), t = sum c threshold^2.
double InteriorSteps::allowance_above(double primal, double loss) const {
    const double norm = std::sqrt(squared_norm(w_));
    double slack = unit * (norm * rows_.scores[0] + 4 * rows_.thresholds[0]);
    if (squared_) {
        const double squares = 2 * unit * unit * (norm * norm * rows_.scores[1] + 16 * rows_.thresholds[1]);
        slack = 2 * std::sqrt(loss * squares) + squares;
    }
    return 1.01 * slack + static_cast<double>(block_rows + 64) * unit * primal;
}
double InteriorSteps::allowance_below(double linear, double square) const {
    double size = rows_.thresholds[0], reach = rows_.norms[0];
    if (squared_) {
        const double t = rows_.thresholds[1], a = std::sqrt(t) + std::sqrt(t + std::abs(linear));
        size = 2 * a * std::sqrt(t) + a * a;
        reach = 2 * a * std::sqrt(rows_.norms[1]);
    }
    const double error = 1.01 * unit * static_cast<double>(n_ + 256) * reach;
    return static_cast<double>(block_rows + 256) * unit * (size + square) +
           error * (1.01 * std::sqrt(square) + error);
}

/// alpha / c
double InteriorSteps::share(std::size_t i) const {
    if (squared_ || alpha_[i] < beta_[i]) return alpha_[i] / rows_.c[i];
    return 1 - beta_[i] / rows_.c[i];
}

double InteriorSteps::nearest() const {
    double nearest = std::numeric_limits<double>::min();
    for (const Part& part : parts_) nearest = std::max(nearest, part.nearest);
    return nearest;
}

void InteriorSteps::add_second(Part& part, std::size_t first, std::size_t last, const double* centre,
                               const double* second) {
    each_row(first, last, [&](const auto& typed, std::size_t row, std::size_t i) {
        typed.add(row, centre[i - first], part.centre.data());
        typed.add(row, second[i - first], part.second.data());
    });
}

/// Pass 2. Leaves -e1/alpha and -e2/beta in dp and dxi.
template <bool Squared>
void InteriorSteps::predict(Part& part, std::size_t first, std::size_t last) {
    double dz[block_rows], centre[block_rows], second[block_rows];
    margins(first, last, dw_, dz);
    double cross = 0, nearest = part.nearest;
#pragma omp simd reduction(+ : cross) reduction(max : nearest)
    for (std::size_t i = first; i < last; ++i) {
        const double dalpha = D_[i] * (g_[i] - dz[i - first]);
        const double low = 1 / alpha_[i], a = dalpha * low, dp = -p_[i] * (1 + a), yD = rows_.y[i] * D_[i];
        const double x = a > -0.5 ? 1 + a : -a;  // the larger of both
        nearest = x > nearest ? x : nearest;
        dp_[i] = -a * dp;
        if constexpr (Squared) {
            cross += dalpha * dp;
            centre[i - first] = yD * low;
            second[i - first] = yD * dp_[i];
        } else {
            const double high = 1 / beta_[i], b = dalpha * high, dxi = -xi_[i] * (1 - b);
            cross += dalpha * (dp - dxi);
            const double z = b < 0.5 ? 1 - b : b;
            nearest = z > nearest ? z : nearest;
            dxi_[i] = b * dxi;
            centre[i - first] = yD * (low - high);
            second[i - first] = yD * (dp_[i] - dxi_[i]);
        }
    }
    part.cross.add(cross);
    part.nearest = nearest;
    add_second(part, first, last, centre, second);
}

/// Pass 3: the step, its length excepted.
template <bool Squared>
void InteriorSteps::correct(Part& part, std::size_t first, std::size_t last, double target) {
    double dz[block_rows];
    margins(first, last, dw_, dz);
    double nearest = part.nearest;
#pragma omp simd reduction(max : nearest)
    for (std::size_t i = first; i < last; ++i) {
        const double low = 1 / alpha_[i], p = p_[i], to_p = target * low + dp_[i];
        double to_xi = 0, high = 0;
        if constexpr (!Squared) {
            high = 1 / beta_[i];
            to_xi = target * high + dxi_[i];
        }
        const double dalpha = D_[i] * (g_[i] + to_p - to_xi - dz[i - first]);
        const double a = dalpha * low, b = dalpha * high, dp = to_p - p - p * a;
        const double bounds = std::max(a > -b ? b : -a, 0.0);
        double slacks = -dp / p;
        if constexpr (!Squared) {
            const double xi = xi_[i], dxi = to_xi - xi + xi * b;
            slacks = std::max(slacks, -dxi / xi);
            dxi_[i] = dxi;
        }
        nearest = bounds > nearest ? bounds : nearest;
        nearest = slacks > nearest ? slacks : nearest;
        dalpha_[i] = dalpha;
        dp_[i] = dp;
    }
    part.nearest = nearest;
}

}  // namespace pegasos
