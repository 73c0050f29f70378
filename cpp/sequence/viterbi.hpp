// The best sequence of labels by dynamic programming (Viterbi), and for each position and label the best
// score of all sequences that have this label there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/solution.hpp"
#include "sequence/chain.hpp"

namespace pegasos {

class Viterbi {
public:
    /// The best labels and their score; minus infinity where no sequence is allowed. Of equal ones the labels
    /// that come first win, from the end of the sequence on.
    double decode(const double* scores, std::size_t length, const Links& links, Label* best);

    /// The best score of all sequences with label k at position t, at out[t * n_labels + k].
    void max_marginals(const double* scores, std::size_t length, const Links& links, double* out);

private:
    void forward(const double* scores, std::size_t length, const Links& links);
    template <std::size_t width>
    void step(const double* scores, std::size_t t, std::size_t at, const Links& links);
    std::size_t before(std::size_t t, std::size_t label, const Links& links) const;

    AlignedVector<double> ahead_;
};

/// The best labels of sequences, one after the other, whose positions have these scores, a row of them each.
/// Where `marginals` is given, also the best score with each label at each position.
std::vector<Label> decode_sequences(std::span<const double> scores, std::span<const std::uint64_t> starts,
                                    const Links& links, std::vector<double>* marginals, Context& context);

}  // namespace pegasos
