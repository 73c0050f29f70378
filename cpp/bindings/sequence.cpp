// Sequences of labels, as Python sees them.
#include "run.hpp"
#include "sequence/solvers/solve.hpp"
#include "sequence/viterbi.hpp"

namespace {

void check_starts(std::size_t n_rows, const Vector<std::uint64_t>& starts) {
    const std::size_t count = starts.shape(0);
    if (count == 0 || starts.data()[0] != 0)
        throw std::invalid_argument("the first sequence must start at 0");
    for (std::size_t i = 1; i < count; ++i)
        if (starts.data()[i] < starts.data()[i - 1]) throw std::invalid_argument("starts must not fall");
    if (starts.data()[count - 1] != n_rows)
        throw std::invalid_argument("the last sequence must end with the rows");
}

Links to_links(const Matrix<double>& values) {
    if (values.shape(0) != values.shape(1) + 2)
        throw std::invalid_argument("links are (labels + 2) x labels");
    Links links(values.shape(1));
    links.assign({values.data(), values.size()});
    return links;
}

using BoundSequences = Held<SequenceProblem>;

void make_problem(BoundSequences* self, const Rows& rows, const Vector<std::uint64_t>& starts,
                  const Vector<Label>& labels, const Vector<double>& weights, double C,
                  const Matrix<double>& cost, const Matrix<double>& barriers, bool boundaries) {
    check_starts(rows.rows.n_rows, starts);
    const SequenceProblem problem{
        rows.rows,          span_of(starts), span_of(labels), span_of(weights), C, {cost.data(), cost.size()},
        to_links(barriers), boundaries};
    const std::size_t K = problem.n_labels();
    if (labels.shape(0) != rows.rows.n_rows || weights.shape(0) != problem.n_sequences())
        throw std::invalid_argument("lengths differ");
    if (cost.shape(0) != K || cost.shape(1) != K) throw std::invalid_argument("the costs are not a square");
    for (const Label label : problem.labels)
        if (label >= K) throw std::invalid_argument("label out of range");
    new (self)
        BoundSequences{problem, {nb::cast(starts), nb::cast(labels), nb::cast(weights), nb::cast(cost)}};
}

SequenceVertices to_vertices(const SequenceProblem& problem, const MaybeVector<std::uint32_t>& owners,
                             const MaybeVector<double>& shares, const MaybeVector<Label>& labels) {
    if (!owners || !shares || !labels) return {};
    SequenceVertices all{{owners->data(), owners->data() + owners->shape(0)},
                         {shares->data(), shares->data() + shares->shape(0)},
                         {labels->data(), labels->data() + labels->shape(0)}};
    std::size_t length = 0;
    for (const std::uint32_t i : all.owners) {
        if (i >= problem.n_sequences()) throw std::invalid_argument("sequence number out of range");
        length += problem.length(i);
    }
    if (all.shares.size() != all.owners.size() || all.labels.size() != length)
        throw std::invalid_argument("lengths differ");
    for (const Label k : all.labels)
        if (k >= problem.n_labels()) throw std::invalid_argument("label out of range");
    return all;
}

SequenceSolution frank_wolfe(const BoundSequences& held, const Run& run, double tol, double max_epochs,
                             std::size_t decodings, std::uint64_t seed, const MaybeVector<RowNumber>& visits,
                             const MaybeVector<std::uint32_t>& owners, const MaybeVector<double>& shares,
                             const MaybeVector<Label>& labels) {
    const SequenceProblem& problem = held.problem;
    if (decodings == 0) throw std::invalid_argument("decodings must be at least 1");
    const SequenceFrankWolfeOptions options{tol, max_epochs, decodings, seed,
                                            to_rows(visits, problem.n_sequences())};
    const auto start = to_vertices(problem, owners, shares, labels);
    return with_context(run, solve_sequence_frank_wolfe, problem, options, start);
}

SequenceSolution pegasos_on_sequences(const BoundSequences& held, const Run& run, std::uint64_t batch,
                                      const char* sampling, bool project, const char* output,
                                      std::uint64_t max_steps, double tol, std::uint64_t seed,
                                      const MaybeVector<RowNumber>& visits) {
    if (std::string_view(output) == "random_stop")
        throw std::invalid_argument("unknown output 'random_stop'");
    const SequenceProblem& problem = held.problem;
    const auto sampler = sampler_of(problem.n_sequences(), sampling, visits, batch, seed);
    const IterateOptions options{batch, project, output_named(output), max_steps, tol};
    return with_context(run, solve_sequence_pegasos, problem, options, *sampler);
}

/// The best labels, and with `marginals` the best scores with each label at each position, else nothing.
auto decode(const Matrix<double>& scores, const Vector<std::uint64_t>& starts, const Matrix<double>& links,
            bool marginals, const Run& run) {
    check_starts(scores.shape(0), starts);
    const Links own = to_links(links);
    if (scores.shape(1) != own.n_labels()) throw std::invalid_argument("lengths differ");
    std::vector<double> best;
    std::vector<Label> labels = with_context(run, [&](Context& context) {
        return decode_sequences({scores.data(), scores.size()}, {starts.data(), starts.shape(0)}, own,
                                marginals ? &best : nullptr, context);
    });
    return std::make_pair(to_numpy(std::move(labels)), to_numpy(std::move(best)));
}

}  // namespace

void bind_sequence(nb::module_& m) {
    nb::class_<BoundSequences>(m, "SequenceProblem", "Sequences of rows with labels, weights, C and costs.")
        .def("__init__", &make_problem, "rows"_a, "starts"_a, "labels"_a, "weights"_a, "C"_a, "cost"_a,
             "barriers"_a, "boundaries"_a, nb::keep_alive<1, 2>());
    nb::class_<SequenceSolution>(m, "SequenceSolution", "What a solver of sequences returns.")
        .def_ro("run", &SequenceSolution::run)
        .def(
            "take",
            [](SequenceSolution& s) {
                return nb::make_tuple(to_numpy(std::move(s.weights)), to_numpy(std::move(s.links)),
                                      to_numpy(std::move(s.vertices.owners)),
                                      to_numpy(std::move(s.vertices.shares)),
                                      to_numpy(std::move(s.vertices.labels)));
            },
            "The weights and links, and the vertices: owners, shares and labels. Once, as they are not "
            "copied.");
    m.def("sequence_frank_wolfe", &frank_wolfe, "problem"_a, "run"_a, nb::kw_only(), "tol"_a, "max_epochs"_a,
          "decodings"_a, "seed"_a, "visits"_a.none(), "owners"_a.none(), "shares"_a.none(),
          "labels"_a.none());
    m.def("sequence_pegasos", &pegasos_on_sequences, "problem"_a, "run"_a, nb::kw_only(), "batch"_a,
          "sampling"_a, "project"_a, "output"_a, "max_steps"_a, "tol"_a, "seed"_a, "visits"_a.none());
    m.def("sequence_decode", &decode, "scores"_a, "starts"_a, "links"_a, "marginals"_a, "run"_a);
}
