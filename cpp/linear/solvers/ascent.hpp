// Dual coordinate ascent on a problem whose rows several may hold: in memory, by blocks from disk, on
// workers.
//
// All start from the same w = sum_i alpha_i y_i x_i. Where one holder visits at a time, its steps change w.
// Where K visit at the same time, each a copy of w, their changes are joined: holder k keeps the share g_k of
// its changes, with g in [0, 1]^K the best for
//
//   D(alpha + sum_k g_k (change k)) >= D(alpha) + sum_k g_k (l_k - <w, d_k>) - 1/2 ||sum_k g_k d_k||^2
//
// (equal for hinge), where d_k is what the changes of k add to w and l_k what they add to the first part of
// D. g = 1/K each would never lower D (concavity), so the best g does not. As in CoCoA+ each holder takes its
// own changes `caution` times, as if the others made the same ones; caution is between 1 and K and follows
// how far off the best common g was. Threads, whose d_k are added up in parallel, look for a common g only
// (sdca.cpp).
//
// After changes were joined P is computed at a mean of several w: K changes are a bit too much together, one
// way now and another way the next time, which the primal value shows much more than the dual.
//
// The intercept is by the method of multipliers (multipliers.hpp): b is the multiplier, and the last entry of
// w is B sigma, sigma = sum_i alpha_i y_i (B = 1 for a free intercept).
#pragma once

#include <utility>

#include "linear/fit.hpp"

namespace pegasos {

class Ascent final : public LinearFit {
public:
    using LinearFit::LinearFit;

    Steps visit(const Problem& part, const RowState& kept, std::span<const RowNumber> order, int most,
                Monitor& monitor) override;
    bool end_epoch() override;

    /// K holders are there from now on; what was joined before does not matter any more.
    void begin_joins(std::size_t K);
    /// Joins what K holders did from the present w, times `caution` each; returns their shares.
    const std::vector<double>& join(const std::vector<std::vector<double>>& changes, const Steps* steps);
    /// Takes over what the dual variables amount to, summed anew.
    void set_point(const Measure& sums);

    void add(const Steps& steps) {
        linear += steps.linear;
        visits += steps.count;
        epoch_.add(steps);
    }
    using LinearFit::add;
    /// The first part of D and the half squared norm of w, as the steps tell.
    double dual() const { return linear - squared_norm(w, n_penalized) / 2; }
    /// The weights at w, its last entry that of an intercept.
    std::vector<double> with_intercept(std::vector<double> w, double b) const {
        if (multipliers.bias > 0) w.back() = b / multipliers.bias;
        return w;
    }

    void state(State& state) override {
        LinearFit::state(state);
        state(w, mean_w, multipliers, b, mean_b, linear, caution, all_rest, epoch_, shares_);
    }

    std::size_t n_penalized = dimension;
    std::size_t n_weights = dimension;  // of all vectors w that are in use by turns
    std::vector<double> w = std::vector<double>(dimension);
    Multipliers multipliers;
    double b = 0;
    double linear = 0;  // sum dual(alpha_i)
    double caution = 1;
    std::vector<double> mean_w;  // where a check is to be; empty: at w
    double mean_b = 0;
    bool all_rest = false;  // no row was visited in the last epoch

protected:
    std::vector<double> present() const override {
        return mean_w.empty() ? with_intercept(w, b) : with_intercept(mean_w, mean_b);
    }
    Bound measured_dual(const Measure& sums) override {
        set_point(sums);
        return sums.dual.value();
    }

private:
    Steps epoch_;
    std::vector<double> shares_;
};

/// Visits the rows of a part that do not rest; w gets `caution` times what the changes add to it.
/// `n_weights`: of all vectors w that are in use by turns.
Steps visit_part(const Problem& part, const RowState& kept, std::span<const RowNumber> order,
                 const Multipliers& multipliers, double b, double caution, std::size_t n_weights, double* w,
                 Monitor& monitor);

/// The g in [0, 1]^K that maximises <rise, g> - 1/2 <g, products g>, by coordinate ascent.
std::vector<double> best_shares(const std::vector<double>& rise, const std::vector<double>& products);

}  // namespace pegasos
