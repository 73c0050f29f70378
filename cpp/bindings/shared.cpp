// Several classes, each against the rest, that share passes over the rows, as Python sees them.
#include "classes/solvers/solve.hpp"
#include "run.hpp"

namespace {

std::vector<Solution> shared_sdca(const BoundProblem& bound, const Run& run, std::size_t first,
                                  std::size_t last, bool shrink, bool blocks, double max_epochs,
                                  double shared_epochs, bool keep_points, double tol, std::uint64_t seed,
                                  const MaybeVector<RowNumber>& sequence,
                                  const std::optional<nb::callable>& report) {
    const Problem& problem = bound.problem;
    if (first >= last || problem.n_rows() == 0) throw std::invalid_argument("no classes, or no rows");
    for (std::size_t i = 0; i < problem.n_rows(); ++i) {
        const double y = problem.labels[i];
        if (!(y >= 0 && y < UINT32_MAX)) throw std::invalid_argument("label out of range");
    }
    const auto tell = [&](std::size_t k, const Record& record) {
        nb::gil_scoped_acquire gil;
        if (report) (*report)(k, record.seconds, record.epoch, record.primal, record.dual);
    };
    const SdcaOptions common{shrink, blocks, tol, max_epochs, seed, to_rows(sequence, problem.n_rows())};
    const SharedSdcaOptions options{common, first, last, shared_epochs, keep_points};
    return with_context(run, solve_shared_sdca, problem, options, tell);
}

}  // namespace

void bind_shared(nb::module_& m) {
    m.def("shared_sdca", &shared_sdca, "problem"_a, "run"_a, nb::kw_only(), "first"_a, "last"_a, "shrink"_a,
          "blocks"_a, "max_epochs"_a, "shared_epochs"_a, "keep_points"_a, "tol"_a, "seed"_a,
          "sequence"_a.none(), "report"_a.none());
}
