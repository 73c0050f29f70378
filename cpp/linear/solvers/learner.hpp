// A learner of a stream with its loss: rows are presented to it once, and its state stays between calls.
#pragma once

#include <span>
#include <variant>

#include "base/monitor.hpp"
#include "base/sampling.hpp"
#include "linear/losses.hpp"
#include "linear/solvers/adagrad.hpp"
#include "linear/solvers/stream.hpp"
#include "rows/any_rows.hpp"

namespace pegasos {

struct Stream {
    AnyLoss loss;
    std::variant<PegasosStream, AdaGradStream> learner;
    Progress progress = {};  // of all rows so far

    StreamLearner& common() {
        return std::visit([](auto& one) -> StreamLearner& { return one; }, learner);
    }
    const StreamLearner& common() const { return const_cast<Stream*>(this)->common(); }

    void state(State& state) { state(common(), progress); }

    /// Presents each of the rows once, in this order or, where it is empty, as they stand; what was predicted
    /// of each before. `scores`, where wanted, are by row. Ends early when the time is up.
    Progress learn(const AnyRows& rows, std::span<const double> labels, std::span<const double> weights,
                   std::span<const RowNumber> order, std::span<double> scores, Monitor& monitor);
};

}  // namespace pegasos
