// Work on a part of a problem's rows, as Python sees it.
#include "linear/solvers/solve.hpp"
#include "run.hpp"

namespace {

void check_lengths(const Problem& problem, std::size_t q, std::size_t w) {
    if (q != problem.n_rows() || w != problem.dimension()) throw std::invalid_argument("lengths differ");
    problem.refuse_free_intercept();
}

using Rests = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<std::uint8_t> rests_of(const std::optional<Rests>& rest, const Problem& problem) {
    if (!rest) return {};
    if (rest->shape(0) != problem.n_rows()) throw std::invalid_argument("lengths differ");
    return {rest->data(), rest->shape(0)};
}

PartVisits visit(const BoundProblem& bound, const Run& run, const Changed& q, const Changed& w,
                 double caution, std::uint64_t epochs, std::uint64_t seed,
                 const MaybeVector<RowNumber>& visits, double b, double rho, const std::optional<Rests>& rest,
                 std::size_t n_weights) {
    const Problem& problem = bound.problem;
    check_lengths(problem, q.shape(0), w.shape(0));
    const double bias = problem.rows.bias;
    const LocalOptions options{caution,
                               epochs,
                               seed,
                               to_rows(visits, problem.n_rows()),
                               bias > 0 ? Multipliers(bias, rho) : Multipliers(),
                               b,
                               rests_of(rest, problem),
                               n_weights};
    const std::span<double> shares{q.data(), q.shape(0)};
    double* const weights = w.data();
    return with_context(run, visit_part, problem, shares, weights, options);
}

/// rho of the method of multipliers, from a part of the rows and what the whole has: rows, and C sum(s).
double choose_rho(const BoundProblem& bound, double n_rows, double cost) {
    const AnyRows& rows = bound.problem.rows;
    double squares = 0;
    rows.visit([&](const auto& typed) {
        for (std::size_t i = 0; i < typed.n_rows; ++i)
            squares += typed.squared_norm(i) - rows.bias * rows.bias;
    });
    return Multipliers::choose_rho(squares / static_cast<double>(bound.problem.n_rows()) * n_rows, n_rows,
                                   cost);
}

Measure measure(const BoundProblem& bound, const Run& run, const Vector<double>& w, const Vector<double>& q,
                const std::optional<Rests>& rest) {
    const Problem& problem = bound.problem;
    check_lengths(problem, q.shape(0), w.shape(0));
    const std::vector<double> weights = to_vector(w, problem.dimension());
    const std::span<const double> shares = span_of(q);
    const std::span<std::uint8_t> rests = rests_of(rest, problem);
    return with_context(run, measure_part, problem, shares, weights, rests);
}

template <class T>
using Filled = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Copies the entries of some rows one after the other, to the front of arrays.
template <class T>
void copy_rows(const Rows& from, const Vector<RowNumber>& numbers, const Filled<T>& values,
               const std::optional<Filled<std::int32_t>>& columns) {
    const std::vector<RowNumber> chosen = to_rows(numbers, from.rows.n_rows);
    const std::size_t room = columns ? std::min(values.shape(0), columns->shape(0)) : values.shape(0);
    from.rows.visit([&]<class Stored>(const Stored& rows) {
        constexpr bool dense = std::is_same_v<Stored, DenseRows<T>>,
                       sparse = std::is_same_v<Stored, CsrRows<T, std::int32_t>>;
        if (!(dense && !columns) && !(sparse && columns)) throw std::invalid_argument("types differ");
        if constexpr (dense || sparse) {
            std::size_t at = 0;
            for (const RowNumber i : chosen) {
                const std::size_t count = rows.entries(i);
                if (count > room - at) throw std::invalid_argument("no room");
                if constexpr (dense) std::copy_n(rows.row(i), count, values.data() + at);
                if constexpr (sparse) {
                    std::copy_n(rows.values + rows.starts[i], count, values.data() + at);
                    std::copy_n(rows.columns + rows.starts[i], count, columns->data() + at);
                }
                at += count;
            }
        }
    });
}

}  // namespace

void bind_part(nb::module_& m) {
    nb::class_<PartVisits>(m, "VisitReport", "What the visits of a part of the rows amounted to.")
        .def_ro("linear", &PartVisits::linear)
        .def_ro("gap", &PartVisits::gap)
        .def_ro("visits", &PartVisits::visits);
    m.def("visit", &visit, "problem"_a, "run"_a, nb::kw_only(), "q"_a.noconvert(), "w"_a.noconvert(),
          "caution"_a = 1.0, "epochs"_a = 1, "seed"_a = 0, "visits"_a.none() = nb::none(), "b"_a = 0.0,
          "rho"_a = std::numeric_limits<double>::infinity(), "rest"_a.none() = nb::none(), "n_weights"_a = 0);
    m.def("choose_rho", &choose_rho, "problem"_a, "n_rows"_a, "cost"_a);
    nb::class_<Measure>(m, "Measure", "What a part of the rows has in the primal and the dual value.")
        .def_ro("losses", &Measure::losses)
        .def_ro("linear", &Measure::linear)
        .def_ro("above", &Measure::above)
        .def_ro("linear_error", &Measure::linear_error)
        .def_ro("error", &Measure::error)
        .def_prop_ro("u", array_of(&Measure::u), nb::rv_policy::move);
    const auto def_copy = [&]<class T>(T) {
        m.def("copy_rows", &copy_rows<T>, "rows"_a, "numbers"_a, "values"_a.noconvert(),
              "columns"_a.noconvert().none() = nb::none());
    };
    def_copy(float{});
    def_copy(double{});
    m.def("measure", &measure, "problem"_a, "run"_a, nb::kw_only(), "w"_a, "q"_a,
          "rest"_a.none() = nb::none());
}
