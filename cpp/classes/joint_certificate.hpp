// The bounds of all classes jointly: one pass over the rows for the primal value of a matrix of weights and a
// dual point (see multiclass.hpp for both, and base/certificate.hpp).
//
// A dual point is kept as e_y - p, in which U is linear and whose multiples by c in [0, 1] lead to p = e_y:
// so `DualPoint` rescales and joins it as it does the q of two classes. A mean of the slopes met, each in the
// simplex, is in the simplex. The dual point that is meant is exactly there, its largest p being 1 less the
// sum of the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/certificate.hpp"
#include "base/solution.hpp"
#include "classes/multiclass.hpp"

namespace pegasos {

/// p from e_y - p, or the reverse.
void swap_sign(std::vector<double>& q, std::span<const std::uint32_t> labels, std::size_t n_classes);

/// The pass at W. Scores and p are those of all classes, of padded length; p comes as the slope of the loss.
class JointPass final : public Pass {
public:
    JointPass(const JointProblem& problem, const ClassMatrix<double>& W, Context& context)
        : problem_(problem), W_(W), team_(context.team), monitor_(context.monitor) {}

    Bound make(DualPoint& point, const SlopeFunction& slopes, bool careful = false) const override;
    void slopes_of(const DualPoint& point, std::size_t first, std::size_t last, double* p) const override;

private:
    const JointProblem& problem_;
    const ClassMatrix<double>& W_;
    Team& team_;
    Monitor& monitor_;
};

/// The bounds of a W and a p from elsewhere, both without padding; where some p is not in the simplex there
/// is no lower one.
Bounds certify_jointly(const JointProblem& problem, const std::vector<double>& w,
                       const std::vector<double>& q, Context& context);

/// What a run met of each row, since its start or the last check: the sums of its slopes p.
class MetSlopes {
public:
    MetSlopes(std::size_t n_rows, std::size_t n_classes)
        : K_(n_classes), visits_(n_rows), sums_(n_rows * n_classes) {}

    void met(std::size_t i, const double* p) {
        ++visits_[i];
        float* sum = &sums_[i * K_];
        for (std::size_t k = 0; k < K_; ++k) sum[k] += static_cast<float>(p[k]);
    }

    /// The mean; what was there, where nothing was met.
    void mean(std::size_t i, double* p) const {
        if (visits_[i] == 0) return;
        const float* sum = &sums_[i * K_];
        double total = 0;
        for (std::size_t k = 0; k < K_; ++k) total += static_cast<double>(sum[k]);
        for (std::size_t k = 0; k < K_; ++k) p[k] = static_cast<double>(sum[k]) / total;
    }

    /// The count starts again.
    void forget(std::size_t i) {
        std::fill_n(&sums_[i * K_], K_, 0.0f);
        visits_[i] = 0;
    }

    void state(State& state) {
        state.array(visits_.data(), visits_.size());
        state.array(sums_.data(), sums_.size());
    }

private:
    std::size_t K_;
    std::vector<std::uint32_t> visits_;
    std::vector<float> sums_;
};

}  // namespace pegasos
