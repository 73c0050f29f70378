// Learners of streams: they keep their state between calls.
#include "linear/solvers/learner.hpp"
#include "run.hpp"

namespace {

Stream make_pegasos(std::size_t dimension, const char* loss, double parameter, double alpha, bool project,
                    const char* output) {
    return {AnyLoss::named(loss, parameter),
            PegasosStream(dimension, StreamOptions{alpha, project, output_named(output)})};
}

Stream make_adagrad(std::size_t dimension, const char* loss, double parameter, double eta) {
    return {AnyLoss::named(loss, parameter), AdaGradStream(dimension, eta)};
}

Progress learn(Stream& stream, const Rows& rows, const Vector<double>& y, const Vector<double>& s,
               const Run& run, const MaybeVector<RowNumber>& order, std::optional<std::uint64_t> seed,
               std::optional<Changed> scores) {
    const std::size_t n_rows = rows.rows.n_rows;
    if (y.shape(0) != n_rows || s.shape(0) != n_rows ||
        rows.rows.dimension() != stream.common().dimension() || (scores && scores->shape(0) != n_rows))
        throw std::invalid_argument("lengths differ");
    if (order && seed) throw std::invalid_argument("an order is given, or drawn from the seed");
    std::vector<RowNumber> visits = to_rows(order, n_rows);
    if (order && visits.empty()) return {};
    if (seed) {
        visits.resize(n_rows);
        Permutations(n_rows, *seed, false).fill(visits);
    }
    const std::span<const double> labels = span_of(y), weights = span_of(s);
    const std::span<double> told(scores ? scores->data() : nullptr, scores ? n_rows : 0);
    return with_context(run, [&](Context& context) {
        return stream.learn(rows.rows, labels, weights, visits, told, context.monitor);
    });
}

/// A number or a vector that all learners have.
template <class T>
auto of_learner(T (StreamLearner::*get)() const) {
    return [get](const Stream& stream) {
        if constexpr (std::is_arithmetic_v<T>)
            return (stream.common().*get)();
        else
            return to_numpy((stream.common().*get)());
    };
}

/// (numbers, vectors): the progress before the learner's own numbers.
nb::tuple state_of(const Stream& stream) {
    StreamState state = stream.common().state();
    const Progress& p = stream.progress;
    state.numbers.insert(state.numbers.begin(),
                         {p.weight, p.loss, p.errors, static_cast<double>(p.rows), p.score});
    nb::list vectors;
    for (auto& vector : state.vectors) vectors.append(to_numpy(std::move(vector)));
    return nb::make_tuple(to_numpy(std::move(state.numbers)), vectors);
}

void restore(Stream& stream, const Vector<double>& numbers, const std::vector<Vector<double>>& vectors) {
    constexpr std::size_t own = 5;
    if (numbers.shape(0) < own) throw std::invalid_argument("not the state of a stream");
    const double* n = numbers.data();
    StreamState state{{n + own, n + numbers.shape(0)}, {}};
    for (const auto& vector : vectors) state.vectors.push_back(to_vector(vector, vector.shape(0)));
    stream.common().restore(state);
    stream.progress = {n[0], n[1], n[2], static_cast<std::uint64_t>(n[3]), n[4]};
}

}  // namespace

void bind_stream(nb::module_& m) {
    nb::class_<Progress>(m, "Progress", "Sums of what was predicted before each step.")
        .def_ro("weight", &Progress::weight)
        .def_ro("loss", &Progress::loss)
        .def_ro("errors", &Progress::errors)
        .def_ro("rows", &Progress::rows)
        .def_ro("score", &Progress::score);
    nb::class_<Stream> stream(m, "Stream",
                              "A learner that meets each row once and keeps its state between calls.");
    stream
        .def(nb::new_(&make_pegasos), "dimension"_a, "loss"_a, "parameter"_a, "alpha"_a, nb::kw_only(),
             "project"_a = false, "output"_a = "last")
        .def_static("adagrad", &make_adagrad, "dimension"_a, "loss"_a, "parameter"_a, "eta"_a,
                    "One of AdaGrad, in place of Pegasos.")
        .def("learn", &learn, "rows"_a, "y"_a, "s"_a, "run"_a, nb::kw_only(), "order"_a.none() = nb::none(),
             "seed"_a.none() = nb::none(), "scores"_a.none() = nb::none(), nb::lock_self(),
             "Presents each row once: as they stand, in this order, or in a random one from the seed. "
             "`scores` is filled with what was predicted of each before.")
        .def("state", &state_of, nb::lock_self(), "(numbers, vectors), for `restore`.")
        .def("restore", &restore, "numbers"_a, "vectors"_a, nb::lock_self())
        .def(
            "assign", [](Stream& stream, const Stream& other) { stream = other; }, "other"_a.lock(),
            nb::lock_self(), "Become what another one is, to the last bit.")
        .def("lower_bound", of_learner(&StreamLearner::lower_bound), nb::lock_self(),
             "On lambda/2 ||w||^2 + the mean loss of the rows met, for every w.")
        .def_prop_ro("dimension", of_learner(&StreamLearner::dimension))
        .def_ro("progress", &Stream::progress)
        .def_prop_ro("w", of_learner(&StreamLearner::output), nb::lock_self(), nb::rv_policy::move,
                     "The weights to predict with.")
        .def_prop_ro("iterate", of_learner(&StreamLearner::iterate), nb::lock_self(), nb::rv_policy::move,
                     "The last iterate; of Pegasos a / (lambda (weight + idle)).")
        .def_prop_ro("weight", of_learner(&StreamLearner::met), "The weight met.")
        .def_prop_ro("idle", of_learner(&StreamLearner::idle), "Weight added so that no step overshoots.")
        .def_prop_ro("error", of_learner(&StreamLearner::error),
                     "How far rounding may have taken the last iterate, in norm.");
    bind_state(stream);
}
