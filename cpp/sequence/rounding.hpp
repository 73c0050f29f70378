// What rounding may do to the bounds of a chain of labels (chain.hpp has the symbols; u = 2^-53).
//
// The score of a label at a position is a sum of n products, off by at most n u ||x_t|| ||W_k|| in any order.
// A labelling of T positions is a sum of T scores with their costs and of T + 1 links; each of them goes
// through 2T additions or fewer, and is off by as many u of itself. Decoding yields the highest of these sums
// as they are rounded, since a sum rounds to no less than a lower one does. So the loss of a sequence, the
// difference of two sums, is off by at most
//
//     2 u (sum_t (n_t + 2T + 4) ||x_t|| max_k ||W_k|| + (2T + 4) (T max cost + (T + 1) max |V|)),
//
// in which only the weights change from one check to the next.
//
// The factor `slack` covers terms in u^2, and the rounding of the allowances themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bounds.hpp"
#include "base/rounding.hpp"
#include "sequence/chain.hpp"

namespace pegasos {

/// Sizes of the weights of a chain.
struct SequenceSizes {
    double square = 0;  // ||w||^2
    double column = 0;  // the largest norm of the weights of a label, or a little more
    double link = 0;    // the largest link
    double count = 0;   // of the weights
};

SequenceSizes sizes_of(const ClassMatrix<double>& W, std::size_t n_rows, const Links& links);

class SequenceRounding {
public:
    static constexpr double slack = 1.01;

    explicit SequenceRounding(const SequenceProblem& problem);

    /// Of the row of a position, or a little more.
    double norm(std::size_t row) const { return norms_[row]; }
    /// How often a feature may stand in one row.
    double repeats() const { return repeats_; }
    double longest() const { return longest_; }

    /// An upper bound of the objective, from the sum of the losses times their weights.
    void bound_primal(const SequenceSizes& sizes, double losses, Bounds& bounds) const;

    /// A lower bound of linear - 1/2 ||w||^2, where these are off by no more than the given errors, the
    /// second one in norm, but for the rounding of their last sums.
    void bound_dual(const SequenceSizes& sizes, double linear, double linear_error, double error,
                    Bounds& bounds) const;

    /// Of a compensated sum of so many terms that are not negative, products of few factors, relatively.
    static double of_sum(double terms) { return 8 * unit + terms * unit * terms * unit; }

private:
    /// What squares below the smallest numbers may add up to.
    static double vanished(const SequenceSizes& sizes) {
        return sizes.column > 0 || sizes.link > 0 ? sizes.count * 1e-300 : 0;
    }

    double C_, n_sequences_;
    double scores_ = 0, costs_ = 0, links_ = 0, longest_ = 0;
    std::uint32_t repeats_ = 1;
    std::vector<double> norms_;
};

}  // namespace pegasos
