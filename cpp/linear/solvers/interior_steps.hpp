// An iteration of interior_point.cpp: Mehrotra's predictor-corrector method (1992) on the problem and its
// dual together, with normal equations of the size of w (Ferris and Munson 2002).
//
//   minimise 1/2 w' R w + sum_i c_i xi_i   where  z_i - 1 + xi_i = p_i,   xi_i >= 0,   p_i >= 0,
//   z_i = <w, a_i>,  a_i = y_i x_i,  c_i = C s_i;  R is the identity, less its last entry where the intercept
//   is free.
//
// alpha_i and beta_i are the multipliers of p_i >= 0 and xi_i >= 0. At the optimum
//   R w = sum_i alpha_i a_i,    alpha_i + beta_i = c_i,    alpha_i p_i = 0,    beta_i xi_i = 0,
// all of them >= 0; for a free intercept the last line of the first equation is sum_i y_i alpha_i = 0. The
// method makes Newton steps towards alpha_i p_i = beta_i xi_i = s, for s that falls to zero, and keeps all
// four positive. alpha + beta = c holds throughout. A step for the products s - e1_i and s - e2_i solves
//   (R + sum_i D_i a_i a_i') dw = sum_i alpha_i a_i - R w + sum_i D_i h_i a_i,
//   D_i = 1 / (p_i / alpha_i + xi_i / beta_i),
//   h_i = 1 - z_i + (s - e1_i) / alpha_i - (s - e2_i) / beta_i,
// and then, with dz_i = <dw, a_i>,
//   dalpha_i = D_i (h_i - dz_i) = -dbeta_i,   dp_i = (s - e1_i - p_i dalpha_i) / alpha_i - p_i,
//   dxi_i = (s - e2_i + xi_i dalpha_i) / beta_i - xi_i.
// The predictor has s = e = 0. Its step to the nearest bound would leave the products' mean at mu' of mu; the
// corrector has s = (mu'/mu)^3 mu and e1 = dalpha dp, e2 = -dalpha dxi of the predictor. One step length,
// 0.995 of the way to the nearest bound, serves all: w and alpha share an equation. What rounding leaves of
// the equations is in the right-hand sides of the next step, so it does not add up.
//
// Every alpha is in its box and every w will do, so each iteration has a true gap. An iteration reads the
// rows three times: (1) z, the sums on the right, the matrix; (2) dz of the predictor, the corrector's sums;
// (3) dz of the corrector. Everything else that has an entry for each row is done in the same passes, a block
// of rows at a time. The step itself is taken in pass (1) of the next iteration.
//
// Start: w = 0, alpha = c/2, p = 1/2, xi = 3/2: exact in z, far from every bound, and whatever the scale of C
// and of the features, nothing is large that will not stay so (alpha a = w would be).
//
// Other losses (interior_rows.hpp): max(0, t_i - z_i) has t_i in place of 1. For the squares, xi_i is free
// and costs c_i xi_i^2, so alpha_i = 2 c_i xi_i and there is no beta: D_i = 1 / (p_i / alpha_i + 1 / (2
// c_i)), and alpha_i / (2 c_i) stands where xi_i or (s - e2_i) / beta_i does. Where the corner is round over
// a width v, as Huber's is, a part b_i of the loss costs c_i b_i^2 / (2 v): alpha_i = c_i b_i / v, so D_i = 1
// / (p_i / alpha_i + xi_i / beta_i + v / c_i), and h_i has -alpha_i v / c_i too.
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/function_ref.hpp"
#include "base/solution.hpp"
#include "linear/certificate.hpp"
#include "linear/solvers/interior_rows.hpp"
#include "linear/solvers/normal_matrix.hpp"

namespace pegasos {

class InteriorSteps {
protected:
    InteriorSteps(const Problem& problem, Context& context);

    /// The rows of the next run; the others keep the alpha that best_q_ says.
    void take_rows(FunctionRef<bool(std::size_t)> chosen);

    void begin();

    /// Pass 1: takes the step; the bounds, the matrix, the predictor's right-hand side.
    bool read_rows();

    /// Predictor and corrector; false when the time was up or the numbers gave out.
    bool make_step();

    const Problem& problem_;
    Context& context_;
    Team& team_;
    const std::size_t d_;
    const bool squared_;                  // whether the loss is the square of one with corners
    const double width_;                  // over which corners are round
    double positive_ = 0, negative_ = 0;  // weights of the classes
    InteriorRows rows_;
    std::size_t n_ = 0;  // of these rows
    std::vector<double> alpha_, beta_, p_, xi_, w_, best_w_, best_q_;
    Bounds best_{};  // as computed, without their allowance for rounding, which comes beside them
    double passes_ = 0, goal_ = 0;
    std::atomic<bool> stop_ = false;

private:
    /// What a thread adds up in a pass over its rows.
    struct Part {
        Sum loss, linear[2], alpha[2], products, cross;       // [2]: of negative and of positive rows
        double nearest = 0;                                   // 1 / the step to the nearest bound
        std::vector<double> u[2], predictor, centre, second;  // sums of rows

        std::vector<std::vector<double>*> vectors() { return {&u[0], &u[1], &predictor, &centre, &second}; }
        void clear() {
            loss = linear[0] = linear[1] = alpha[0] = alpha[1] = products = cross = {};
            nearest = 0;
            for (auto* sum : vectors()) std::fill(sum->begin(), sum->end(), 0.0);
        }
    };
    /// Work on the rows [first, last) of a block.
    using Task = FunctionRef<void(Part& part, std::size_t first, std::size_t last)>;

    bool pass(std::size_t threads, Task task);
    template <class F>
    void each_row(std::size_t first, std::size_t last, F f) const;
    void margins(std::size_t first, std::size_t last, const std::vector<double>& v, double* z) const;
    void add_second(Part& part, std::size_t first, std::size_t last, const double* centre,
                    const double* second);
    template <bool Squared, bool Rounded>
    void read_block(Part& part, std::size_t first, std::size_t last);
    template <bool Squared>
    void advance(std::size_t first, std::size_t last);
    template <bool Squared>
    void predict(Part& part, std::size_t first, std::size_t last);
    template <bool Squared>
    void correct(Part& part, std::size_t first, std::size_t last, double target);
    void take_bounds();
    double allowance_above(double primal, double loss) const;
    double allowance_below(double linear, double square) const;
    double share(std::size_t i) const;
    double nearest() const;

    NormalMatrix matrix_;
    std::vector<double> D_, g_, dalpha_, dp_, dxi_, dw_, right_, corrected_;
    std::vector<Part> parts_;
    double products_ = 0, gap_now_ = 0, step_ = 0, taken_ = 0;
};

}  // namespace pegasos
