// Work on a part of a problem's rows, as Python sees it.
#include "linear/solvers/solve.hpp"
#include "run.hpp"

namespace {

void check_lengths(const Problem& problem, std::size_t q, std::size_t w) {
    if (q != problem.n_rows() || w != problem.dimension()) throw std::invalid_argument("lengths differ");
    problem.refuse_free_intercept();
}

PartVisits visit(const BoundProblem& bound, const Run& run, const Changed& q, const Changed& w,
                 double caution, std::uint64_t epochs, std::uint64_t seed,
                 const MaybeVector<RowNumber>& visits) {
    const Problem& problem = bound.problem;
    check_lengths(problem, q.shape(0), w.shape(0));
    const LocalOptions options{caution, epochs, seed, to_rows(visits, problem.n_rows())};
    const std::span<double> shares{q.data(), q.shape(0)};
    double* const weights = w.data();
    return with_context(run, visit_part, problem, shares, weights, options);
}

Measure measure(const BoundProblem& bound, const Run& run, const Vector<double>& w, const Vector<double>& q) {
    const Problem& problem = bound.problem;
    check_lengths(problem, q.shape(0), w.shape(0));
    const std::vector<double> weights = to_vector(w, problem.dimension());
    const std::span<const double> shares = span_of(q);
    return with_context(run, measure_part, problem, shares, weights);
}

}  // namespace

void bind_part(nb::module_& m) {
    nb::class_<PartVisits>(m, "VisitReport", "What the visits of a part of the rows amounted to.")
        .def_ro("linear", &PartVisits::linear)
        .def_ro("gap", &PartVisits::gap)
        .def_ro("visits", &PartVisits::visits);
    m.def("visit", &visit, "problem"_a, "run"_a, nb::kw_only(), "q"_a.noconvert(), "w"_a.noconvert(),
          "caution"_a = 1.0, "epochs"_a = 1, "seed"_a = 0, "visits"_a.none() = nb::none());
    nb::class_<Measure>(m, "Measure", "What a part of the rows has in the primal and the dual value.")
        .def_ro("losses", &Measure::losses)
        .def_ro("linear", &Measure::linear)
        .def_ro("above", &Measure::above)
        .def_ro("linear_error", &Measure::linear_error)
        .def_ro("error", &Measure::error)
        .def_prop_ro("u", array_of(&Measure::u), nb::rv_policy::move);
    m.def("measure", &measure, "problem"_a, "run"_a, nb::kw_only(), "w"_a, "q"_a);
}
