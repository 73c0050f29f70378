// Chains of labels, as Python sees them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "instances/chain_dispatch.hpp"
#include "run.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace pegasos;

namespace {

using Square = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void check_starts(std::size_t n_rows, const Vector<std::uint64_t>& starts) {
    const std::size_t count = starts.shape(0);
    if (count == 0 || starts.data()[0] != 0)
        throw std::invalid_argument("the first sequence must start at 0");
    for (std::size_t i = 1; i < count; ++i)
        if (starts.data()[i] < starts.data()[i - 1]) throw std::invalid_argument("starts must not fall");
    if (starts.data()[count - 1] != n_rows)
        throw std::invalid_argument("the last sequence must end with the rows");
}

Links to_links(const Square& values) {
    if (values.shape(0) != values.shape(1) + 2)
        throw std::invalid_argument("links are (labels + 2) x labels");
    Links links(values.shape(1));
    links.assign({values.data(), values.size()});
    return links;
}

/// Labels, weights, C and costs with the rows they belong to; holds the Python arrays.
struct BoundChainProblem {
    const Rows& rows;  // kept alive by the binding
    Vector<std::uint64_t> starts;
    Vector<Label> labels;
    Vector<double> weights;
    double C;
    Square cost;
    Links barriers;
    bool boundaries;

    BoundChainProblem(const Rows& rows, Vector<std::uint64_t> starts, Vector<Label> labels,
                      Vector<double> weights, double C, Square cost, const Square& barriers, bool boundaries)
        : rows(rows),
          starts(std::move(starts)),
          labels(std::move(labels)),
          weights(std::move(weights)),
          C(C),
          cost(std::move(cost)),
          barriers(to_links(barriers)),
          boundaries(boundaries) {
        check_starts(rows.rows.n_rows, this->starts);
        const std::size_t K = n_labels();
        if (this->labels.shape(0) != this->starts.data()[n_sequences()] ||
            this->weights.shape(0) != n_sequences())
            throw std::invalid_argument("lengths differ");
        if (this->cost.shape(0) != K || this->cost.shape(1) != K)
            throw std::invalid_argument("the costs are not a square");
        for (std::size_t t = 0; t < this->labels.shape(0); ++t)
            if (this->labels.data()[t] >= K) throw std::invalid_argument("label out of range");
    }

    std::size_t n_labels() const { return barriers.n_labels(); }
    std::size_t n_sequences() const { return starts.shape(0) - 1; }
    ChainData data() const {
        return {{starts.data(), starts.shape(0)},
                {labels.data(), labels.shape(0)},
                {weights.data(), weights.shape(0)},
                C,
                {cost.data(), cost.size()},
                barriers,
                boundaries};
    }
};

ChainVertices to_vertices(const BoundChainProblem& problem,
                          const std::optional<Vector<std::uint32_t>>& owners,
                          const std::optional<Vector<double>>& shares,
                          const std::optional<Vector<Label>>& labels) {
    if (!owners || !shares || !labels) return {};
    ChainVertices all{{owners->data(), owners->data() + owners->shape(0)},
                      {shares->data(), shares->data() + shares->shape(0)},
                      {labels->data(), labels->data() + labels->shape(0)}};
    std::size_t length = 0;
    for (const std::uint32_t i : all.owners) {
        if (i >= problem.n_sequences()) throw std::invalid_argument("sequence number out of range");
        length += static_cast<std::size_t>(problem.starts.data()[i + 1] - problem.starts.data()[i]);
    }
    if (all.shares.size() != all.owners.size() || all.labels.size() != length)
        throw std::invalid_argument("lengths differ");
    for (const Label k : all.labels)
        if (k >= problem.n_labels()) throw std::invalid_argument("label out of range");
    return all;
}

ChainSolution chain_frank_wolfe(const BoundChainProblem& problem, const Run& run, double tol,
                                double max_epochs, std::size_t decodings, std::uint64_t seed,
                                const std::optional<Vector<RowNumber>>& sequence,
                                const std::optional<Vector<std::uint32_t>>& owners,
                                const std::optional<Vector<double>>& shares,
                                const std::optional<Vector<Label>>& labels) {
    if (decodings == 0) throw std::invalid_argument("decodings must be at least 1");
    const ChainFrankWolfeRequest request{{tol, max_epochs, decodings, seed},
                                         to_rows(sequence, problem.n_sequences()),
                                         to_vertices(problem, owners, shares, labels)};
    const ChainData data = problem.data();
    return solve(problem.rows, run, [&](const auto& rows, Context& context) {
        return solve_chain_frank_wolfe(rows, data, request, context);
    });
}

ChainSolution chain_pegasos(const BoundChainProblem& problem, const Run& run, std::uint64_t batch,
                            const std::string& sampling, bool project, const std::string& output,
                            std::uint64_t max_steps, double tol, std::uint64_t seed,
                            const std::optional<Vector<RowNumber>>& sequence) {
    if (output == "random_stop") throw std::invalid_argument("unknown output '" + output + "'");
    const ChainPegasosRequest request{{batch, project, output_named(output), max_steps, tol},
                                      sampling,
                                      seed,
                                      to_rows(sequence, problem.n_sequences())};
    const ChainData data = problem.data();
    return solve(problem.rows, run, [&](const auto& rows, Context& context) {
        return solve_chain_pegasos(rows, data, request, context);
    });
}

/// The best labels, and with `marginals` the best scores with each label at each position, else nothing.
auto chain_decode(const Square& scores, const Vector<std::uint64_t>& starts, const Square& links,
                  bool marginals, const Run& run) {
    check_starts(scores.shape(0), starts);
    const Links own = to_links(links);
    if (scores.shape(1) != own.n_labels()) throw std::invalid_argument("lengths differ");
    std::vector<double> best;
    std::vector<Label> labels = with_context(run, [&](Context& context) {
        return decode_chains({scores.data(), scores.size()}, {starts.data(), starts.shape(0)}, own,
                             marginals ? &best : nullptr, context);
    });
    return std::make_pair(to_numpy(std::move(labels)), to_numpy(std::move(best)));
}

}  // namespace

void bind_chain(nb::module_& m) {
    nb::class_<BoundChainProblem>(m, "ChainProblem", "Sequences of rows with labels, weights, C and costs.")
        .def(nb::init<const Rows&, Vector<std::uint64_t>, Vector<Label>, Vector<double>, double, Square,
                      const Square&, bool>(),
             "rows"_a, "starts"_a, "labels"_a, "weights"_a, "C"_a, "cost"_a, "barriers"_a, "boundaries"_a,
             nb::keep_alive<1, 2>());
    nb::class_<ChainSolution>(m, "ChainSolution", "What a solver of chains returns.")
        .def_ro("run", &ChainSolution::run)
        .def(
            "take",
            [](ChainSolution& s) {
                return nb::make_tuple(to_numpy(std::move(s.weights)), to_numpy(std::move(s.links)),
                                      to_numpy(std::move(s.vertices.owners)),
                                      to_numpy(std::move(s.vertices.shares)),
                                      to_numpy(std::move(s.vertices.labels)));
            },
            "The weights and links, and the vertices: owners, shares and labels. Once, as they are not "
            "copied.");
    m.def("chain_frank_wolfe", &chain_frank_wolfe, "problem"_a, "run"_a, nb::kw_only(), "tol"_a,
          "max_epochs"_a, "decodings"_a, "seed"_a, "sequence"_a.none(), "owners"_a.none(), "shares"_a.none(),
          "labels"_a.none());
    m.def("chain_pegasos", &chain_pegasos, "problem"_a, "run"_a, nb::kw_only(), "batch"_a, "sampling"_a,
          "project"_a, "output"_a, "max_steps"_a, "tol"_a, "seed"_a, "sequence"_a.none());
    m.def("chain_decode", &chain_decode, "scores"_a, "starts"_a, "links"_a, "marginals"_a, "run"_a);
}
