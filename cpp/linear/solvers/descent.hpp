// Sub-gradient steps on a problem whose rows come in parts: Pegasos as on a stream (stream.hpp), epoch after
// epoch.
//
// Slopes met are dual variables: with a = sum s q y x over T epochs, alpha = C c s q is feasible for every c
// up to 1/T; in an epoch that is not whole some rows have fewer visits, and no row more than T. So the bound
// takes no pass; a check is for the primal value alone.
#pragma once

#include "linear/fit.hpp"
#include "linear/solvers/learner.hpp"

namespace pegasos {

class Descent final : public LinearFit {
public:
    Descent(std::size_t dimension, double n_rows, double tol, const Checks& checks, bool best, double C,
            double total_weight, Stream stream)
        : LinearFit(dimension, n_rows, tol, checks, best),
          C_(C),
          total_weight_(total_weight),
          stream_(std::move(stream)) {}

    Steps visit(const Problem& part, const RowState& kept, std::span<const RowNumber> order, int most,
                Monitor& monitor) override;
    bool end_epoch() override;
    void state(State& state) override {
        LinearFit::state(state);
        state(stream_, epochs_, within_epoch_, weight_before_, loss_before_);
    }

protected:
    std::vector<double> present() const override { return stream_.common().output(); }
    Bound measured_dual(const Measure&) override { return free_dual_; }

private:
    /// The bound that the slopes met so far make.
    Bound dual_of_slopes() const;

    double C_, total_weight_;
    Stream stream_;
    std::uint64_t epochs_ = 0;  // begun
    bool within_epoch_ = false;
    double weight_before_ = 0, loss_before_ = 0;  // met before this epoch
};

}  // namespace pegasos
