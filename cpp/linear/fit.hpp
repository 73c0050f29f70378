// A fit whose rows are visited and measured part by part: what does not depend on the steps that it makes.
// When a check pays, the best weights and bounds, and why it ended are here; a check measures every part at
// one w, and sums what the parts have in the bounds. `Ascent` (solvers/ascent.hpp) makes steps on the dual,
// `Descent` (solvers/descent.hpp) sub-gradient steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/certificate.hpp"
#include "base/checks.hpp"
#include "base/solution.hpp"
#include "linear/coordinate_steps.hpp"
#include "linear/problem.hpp"

namespace pegasos {

/// What the holder of a part keeps of its rows.
struct RowState {
    std::span<double> q = {};           // dual variables: alpha_i = C s_i q_i; empty: all are 0
    std::span<std::uint8_t> rest = {};  // for how many epochs each row rests; empty: none does
};

/// What a part of the rows has in the bounds at weights w and at its dual variables: a whole has the sums.
struct Measure {
    double losses = 0;  // C sum s loss
    double above = 0;   // what rounding may add to them
    DualPoint dual;     // without its q

    void add(const Measure& other);
};

/// Rows whose rest is too long, as their margins at w tell, are woken.
Measure measure_part(const Problem& part, const RowState& kept, const std::vector<double>& w,
                     Context& context);

class LinearFit {
public:
    /// `n_rows` of all parts. `best`: whether the best weights of all checks are wanted, not the last.
    LinearFit(std::size_t dimension, double n_rows, double tol, const Checks& checks, bool best = true)
        : dimension(dimension), n_rows(n_rows), tol(tol), checks(checks), best_(best) {
        solution.bounds = Bounds::none();
        solution.w.resize(dimension);
    }
    virtual ~LinearFit() = default;

    /// Visits rows of a part in this order, and once more up to `most` times while few of them do not rest.
    virtual Steps visit(const Problem& part, const RowState& kept, std::span<const RowNumber> order, int most,
                        Monitor& monitor) = 0;
    /// An epoch is over: whether a check is worth a pass over all rows.
    virtual bool end_epoch() = 0;

    /// A check begins, at the weights that would be returned now.
    void begin_check() {
        weights_ = present();
        sums_ = {};
    }
    const std::vector<double>& weights() const { return weights_; }
    void measure(const Problem& part, const RowState& kept, Context& context) {
        sums_.add(measure_part(part, kept, weights_, context));
    }
    void add(const Measure& measure) { sums_.add(measure); }
    /// All parts were measured; without any, as none is wanted, there is no primal value. Whether the fit
    /// ends.
    bool end_check(Context& context, bool out_of_time, bool last);

    /// Takes the bounds of a check at w and q. Whether the fit ends.
    bool take(Context& context, const Bounds& now, std::vector<double> w, std::vector<double> q,
              bool out_of_time, bool last);

    double epochs() const { return visits / n_rows; }
    /// The gap that the last epoch suggests, or that the last check has.
    double gap() const { return gap_; }
    virtual void state(State& state) { state(checks, solution, visits, gap_, free_dual_); }

    const std::size_t dimension;
    const double n_rows, tol;
    Checks checks;
    Solution solution;
    double visits = 0;

protected:
    /// The weights that would be returned now.
    virtual std::vector<double> present() const = 0;
    /// The dual value, given the sums over all parts.
    virtual Bound measured_dual(const Measure& sums) = 0;

    double gap_ = std::numeric_limits<double>::infinity();
    Bound free_dual_{0, 0};  // the best lower bound that took no pass: losses are not below 0

private:
    const bool best_;
    std::vector<double> weights_;
    Measure sums_;
};

}  // namespace pegasos
