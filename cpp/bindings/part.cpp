// Work on a part of a problem's rows, as Python sees it.
#include "linear/solvers/ascent.hpp"
#include "linear/solvers/descent.hpp"
#include "run.hpp"

namespace {

using Rests = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// What the caller keeps of the rows of a part.
RowState state_of(const Problem& part, const std::optional<Changed>& q, const std::optional<Rests>& rest) {
    if ((q && q->shape(0) != part.n_rows()) || (rest && rest->shape(0) != part.n_rows()))
        throw std::invalid_argument("lengths differ");
    part.refuse_free_intercept();
    RowState kept;
    if (q) kept.q = {q->data(), q->shape(0)};
    if (rest) kept.rest = {rest->data(), rest->shape(0)};
    return kept;
}

void check_dimension(const Problem& part, std::size_t dimension) {
    if (part.dimension() != dimension) throw std::invalid_argument("lengths differ");
}

Steps visit(const BoundProblem& part, const Run& run, const Changed& q, const Changed& w,
            const MaybeVector<RowNumber>& order, double caution, double b, double rho,
            const std::optional<Rests>& rest) {
    const Problem& problem = part.problem;
    check_dimension(problem, w.shape(0));
    const RowState kept = state_of(problem, q, rest);
    const std::vector<RowNumber> rows = to_rows(order, problem.n_rows());
    const double bias = problem.rows.bias;
    const Multipliers multipliers = bias > 0 ? Multipliers(bias, rho) : Multipliers();
    return with_context(run, [&](Context& context) {
        return visit_part(problem, kept, rows, multipliers, b, caution, 0, w.data(), context.monitor);
    });
}

Measure measure(const BoundProblem& part, const Run& run, const Vector<double>& w, const Changed& q,
                const std::optional<Rests>& rest) {
    const Problem& problem = part.problem;
    const std::vector<double> weights = to_vector(w, problem.dimension());
    const RowState kept = state_of(problem, q, rest);
    return with_context(run, measure_part, problem, kept, weights);
}

Measure make_measure(double losses, double above, double linear, double linear_error, const Vector<double>& u,
                     double error) {
    return {losses, above, {{}, to_vector(u, u.shape(0)), linear, linear_error, error}};
}

Steps visit_by(LinearFit& fit, const BoundProblem& part, const Run& run, const std::optional<Changed>& q,
               const std::optional<Rests>& rest, const MaybeVector<RowNumber>& order, int most) {
    const Problem& problem = part.problem;
    check_dimension(problem, fit.dimension);
    const RowState kept = state_of(problem, q, rest);
    const std::vector<RowNumber> rows = to_rows(order, problem.n_rows());
    return with_context(run, [&](Context& context) {
        context.monitor.at_epoch(fit.epochs());
        return fit.visit(problem, kept, rows, most, context.monitor);
    });
}

void measure_by(LinearFit& fit, const BoundProblem& part, const Run& run, const std::optional<Changed>& q,
                const std::optional<Rests>& rest) {
    check_dimension(part.problem, fit.weights().size());
    const RowState kept = state_of(part.problem, q, rest);
    with_context(run, [&](Context& context) {
        context.monitor.at_epoch(fit.epochs());
        fit.measure(part.problem, kept, context);
    });
}

bool end_check(LinearFit& fit, const Run& run, bool out_of_time, bool last) {
    return with_context(run, [&](Context& context) { return fit.end_check(context, out_of_time, last); });
}

Ascent make_ascent(std::size_t dimension, double n_rows, double tol, double usual, std::size_t n_weights) {
    Ascent ascent(dimension, n_rows, tol, Checks(tol, usual));
    ascent.n_weights = n_weights;
    return ascent;
}

std::vector<double> join(Ascent& ascent, const std::vector<Vector<double>>& changes,
                         const std::vector<Steps>& steps) {
    if (changes.size() != steps.size()) throw std::invalid_argument("lengths differ");
    std::vector<std::vector<double>> copies;
    for (const auto& change : changes) copies.push_back(to_vector(change, ascent.dimension));
    const nb::gil_scoped_release release;
    return ascent.join(copies, steps.data());
}

/// The sum of the squared norms of the rows of a part, without the constant feature.
double sum_squares(const BoundProblem& part) {
    const AnyRows& rows = part.problem.rows;
    double squares = 0;
    rows.visit([&](const auto& typed) {
        for (std::size_t i = 0; i < typed.n_rows; ++i)
            squares += typed.squared_norm(i) - rows.bias * rows.bias;
    });
    return squares;
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
    nb::class_<Steps>(m, "Steps", "What visits amounted to.")
        .def(nb::new_([](double linear, double gap, double count) { return Steps{linear, gap, count}; }),
             "linear"_a, "gap"_a, "count"_a)
        .def_ro("linear", &Steps::linear)
        .def_ro("gap", &Steps::gap)
        .def_ro("count", &Steps::count);
    m.def("visit", &visit, "part"_a, "run"_a, nb::kw_only(), "q"_a.noconvert(), "w"_a.noconvert(), "order"_a,
          "caution"_a = 1.0, "b"_a = 0.0, "rho"_a = std::numeric_limits<double>::infinity(),
          "rest"_a.none() = nb::none(), "Visit rows of a part in this order: q, w and rest change.");
    m.def("sum_squares", &sum_squares, "part"_a);
    m.def("choose_rho", &Multipliers::choose_rho, "squares"_a, "n_rows"_a, "cost"_a, "least_share"_a = 0.01);
    nb::class_<Measure>(m, "Measure", "What a part of the rows has in the primal and the dual value.")
        .def(nb::new_(&make_measure), "losses"_a, "above"_a, "linear"_a, "linear_error"_a, "u"_a, "error"_a)
        .def("add", &Measure::add, "other"_a, nb::lock_self(), "Count other rows.")
        .def_ro("losses", &Measure::losses)
        .def_ro("above", &Measure::above, "What rounding may add to the losses.")
        .def_prop_ro("linear", [](const Measure& self) { return self.dual.linear; })
        .def_prop_ro(
            "u", [](const Measure& self) { return to_numpy(self.dual.u); }, nb::rv_policy::move)
        .def_prop_ro(
            "terms",
            [](const Measure& self) {
                const DualPoint& dual = self.dual;
                return nb::make_tuple(self.losses, self.above, dual.linear, dual.linear_error,
                                      to_numpy(dual.u), dual.error);
            },
            "All that it is made of.");
    m.def("measure", &measure, "part"_a, "run"_a, nb::kw_only(), "w"_a, "q"_a, "rest"_a.none() = nb::none(),
          "Measure a part; rows that rest too long are woken.");

    nb::class_<LinearFit> fit(m, "LinearFit", "A fit whose rows are visited and measured part by part.");
    fit.def("visit", &visit_by, "part"_a, "run"_a, nb::kw_only(), "q"_a.none() = nb::none(),
            "rest"_a.none() = nb::none(), "order"_a, "most"_a = 1, nb::lock_self(),
            "Visit rows of a part in this order, and again up to `most` times while most of them rest.")
        .def("end_epoch", &LinearFit::end_epoch, nb::lock_self(), "Whether a check is worth a pass.")
        .def("begin_check", &LinearFit::begin_check, nb::lock_self())
        .def("measure", &measure_by, "part"_a, "run"_a, nb::kw_only(), "q"_a.none() = nb::none(),
             "rest"_a.none() = nb::none(), nb::lock_self(), "Add a part to the check.")
        .def(
            "add", [](LinearFit& self, const Measure& measure) { self.add(measure); }, "measure"_a,
            nb::lock_self(), "Add to the check what was measured elsewhere.")
        .def("end_check", &end_check, "run"_a, "out_of_time"_a, "last"_a, nb::lock_self(),
             "Take the bounds of a check, and tell of it; whether the fit ends.")
        .def_prop_ro(
            "weights", [](const LinearFit& self) { return to_numpy(self.weights()); }, nb::rv_policy::move,
            "Where the check is.")
        .def_prop_ro("gap", &LinearFit::gap)
        .def_prop_ro("epochs", &LinearFit::epochs)
        .def_rw("visits", &LinearFit::visits)
        .def_prop_ro(
            "bounds", [](const LinearFit& self) { return self.solution.bounds; }, "The best.")
        .def_prop_ro(
            "checked", [](const LinearFit& self) { return std::isfinite(self.solution.bounds.primal); },
            "Whether there are weights to return.")
        .def_prop_rw(
            "reason", [](const LinearFit& self) { return self.solution.reason; },
            [](LinearFit& self, const std::string& reason) { self.solution.reason = reason; },
            "Why it ended; empty before.")
        .def(
            "finish",
            [](LinearFit& self, double seconds) {
                Solution& solution = self.solution;
                solution.epochs = self.epochs();
                solution.steps = solution.t = static_cast<std::uint64_t>(self.visits);
                solution.seconds = seconds;
                return solution;
            },
            "seconds"_a, nb::lock_self(), "The best weights and bounds.");
    bind_state(fit);
    nb::class_<Ascent, LinearFit>(m, "Ascent", "Dual coordinate ascent.")
        .def(nb::new_(&make_ascent), "dimension"_a, "n_rows"_a, nb::kw_only(), "tol"_a, "usual"_a,
             "n_weights"_a = 0)
        .def("begin_joins", &Ascent::begin_joins, "n_holders"_a, nb::lock_self())
        .def("join", &join, "changes"_a, "steps"_a, nb::lock_self(),
             "Join the changes of several holders from the same w; the share that each keeps.")
        .def("set_point", &Ascent::set_point, "sums"_a, nb::lock_self(),
             "Take over what the dual variables amount to.")
        .def(
            "set_intercept",
            [](Ascent& self, double bias, double rho) { self.multipliers = Multipliers(bias, rho); },
            "bias"_a, "rho"_a, nb::lock_self(), "The constant feature, and rho of the multipliers' method.")
        .def_ro("caution", &Ascent::caution)
        .def_ro("b", &Ascent::b)
        .def_prop_ro(
            "w", [](const Ascent& self) { return to_numpy(self.w); }, nb::rv_policy::move)
        .def_ro("all_rest", &Ascent::all_rest, "Whether no row was visited in the last epoch.");
    nb::class_<Descent, LinearFit>(m, "Descent", "Sub-gradient steps.")
        .def(nb::new_([](std::size_t dimension, double n_rows, const Stream& stream, double tol, double C,
                         double total_weight, bool best) {
                 return Descent(dimension, n_rows, tol, Checks(tol, 1.0), best, C, total_weight, stream);
             }),
             "dimension"_a, "n_rows"_a, "stream"_a, nb::kw_only(), "tol"_a, "C"_a, "total_weight"_a,
             "best"_a = true);
    m.def(
        "primal_bound",
        [](const Vector<double>& w, double losses, double above) {
            const std::vector<double> weights = to_vector(w, w.shape(0));
            const Bound bound =
                primal_bound(squared_norm(weights), 1, losses, above, weights.size(), weights.size());
            return Bounds{bound.value, 0, bound.rounding, 0};
        },
        "w"_a, "losses"_a, "above"_a, "The primal value at w, whose losses may be off by so much.");
    m.def(
        "loss_value", [](const std::string& loss, double z) { return AnyLoss::named(loss, 0).value(z, 1); },
        "loss"_a, "z"_a, "The loss of classification at margin z.");
    m.def("best_shares", &best_shares, "rise"_a, "products"_a);
    const auto def_copy = [&]<class T>(T) {
        m.def("copy_rows", &copy_rows<T>, "rows"_a, "numbers"_a, "values"_a.noconvert(),
              "columns"_a.noconvert().none() = nb::none());
    };
    def_copy(float{});
    def_copy(double{});
}
