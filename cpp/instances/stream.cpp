// Learning from streams, for all kinds of rows.
#include "instances/stream_dispatch.hpp"

namespace pegasos {

template <class Rows>
Progress learn_stream(Stream& stream, const Rows& rows, std::span<const double> labels,
                      std::span<const double> weights, std::span<const RowNumber> order,
                      std::span<double> scores, Monitor& monitor) {
    const ProblemData data{labels, weights, 1, stream.loss, stream.epsilon};
    const Progress progress = with_hinge_or_other(data, [&](const auto& loss) {
        return std::visit(
            [&](auto& learner) {
                return present_rows(learner, loss, rows, labels, weights, order, scores, monitor);
            },
            stream.learner);
    });
    stream.progress.add(progress);
    return progress;
}

#define PEGASOS_INSTANTIATE_STREAM(...)                                                                    \
    template Progress learn_stream(Stream&, const __VA_ARGS__&, std::span<const double>,                   \
                                   std::span<const double>, std::span<const RowNumber>, std::span<double>, \
                                   Monitor&);

PEGASOS_INSTANTIATE_STREAM(DenseRows<float>)
PEGASOS_INSTANTIATE_STREAM(DenseRows<double>)
PEGASOS_INSTANTIATE_STREAM(CsrRows<float, std::int32_t>)
PEGASOS_INSTANTIATE_STREAM(CsrRows<double, std::int32_t>)
PEGASOS_INSTANTIATE_STREAM(CsrRows<float, std::int64_t>)
PEGASOS_INSTANTIATE_STREAM(CsrRows<double, std::int64_t>)

}  // namespace pegasos
