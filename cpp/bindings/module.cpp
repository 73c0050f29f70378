// What Python sees of the core. No arithmetic here: arrays become spans, names become values.
#include "base/checks.hpp"
#include "base/multipliers.hpp"
#include "linear/certificate.hpp"
#include "linear/neighbours.hpp"
#include "linear/solvers/solve.hpp"
#include "rows/inspect.hpp"
#include "run.hpp"

namespace {

template <class T>
Rows dense_rows(const nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>& X, double bias, bool rescaled) {
    if (X.shape(1) > 1 && X.stride(1) != 1) throw std::invalid_argument("rows must be contiguous");
    const std::size_t stride = X.shape(0) > 1 ? static_cast<std::size_t>(X.stride(0)) : X.shape(1);
    return {DenseRows<T>{X.data(), X.shape(0), X.shape(1), stride, bias, rescaled},
            X.shape(0) * X.shape(1),
            {nb::cast(X)}};
}

template <class T, class Index>
Rows csr_rows(const Vector<T>& values, const Vector<Index>& columns, const Vector<Index>& starts,
              std::size_t n_features, double bias, bool rescaled) {
    if (starts.shape(0) == 0) throw std::invalid_argument("a CSR matrix needs at least one row start");
    const std::size_t n_rows = starts.shape(0) - 1, n_stored = std::min(values.shape(0), columns.shape(0));
    return {
        CsrRows<T, Index>{values.data(), columns.data(), starts.data(), n_rows, n_features, bias, rescaled},
        n_stored,
        {nb::cast(values), nb::cast(columns), nb::cast(starts)}};
}

void make_problem(BoundProblem* self, const Rows& rows, const Vector<double>& y, const Vector<double>& s,
                  double C, const char* loss, bool free_intercept, double parameter) {
    if (y.shape(0) != rows.rows.n_rows || s.shape(0) != rows.rows.n_rows)
        throw std::invalid_argument("lengths differ");
    new (self)
        BoundProblem{{rows.rows, span_of(y), span_of(s), C, AnyLoss::named(loss, parameter), free_intercept},
                     {nb::cast(y), nb::cast(s)}};
}

Start make_start(const Problem& problem, const MaybeVector<double>& w, std::uint64_t t,
                 const MaybeVector<double>& q = std::nullopt,
                 const std::vector<Vector<double>>& counterweights = {}) {
    Start start{to_vector(w, problem.dimension()), t, to_vector(q, problem.n_rows())};
    for (const auto& other : counterweights)
        start.counterweights.push_back(to_vector(other, problem.n_rows()));
    return start;
}

Solution subgradient(const BoundProblem& bound, const Run& run, const char* schedule, double step_parameter,
                     std::uint64_t batch, const char* sampling, bool project, double radius,
                     bool count_idle_steps, const char* output, std::uint64_t random_stops,
                     std::uint64_t stop_sample, std::uint64_t max_steps, double tol, std::uint64_t seed,
                     const char* intercept, const MaybeVector<RowNumber>& visits,
                     const MaybeVector<double>& start_w, std::uint64_t start_t,
                     const MaybeVector<double>& start_q, const std::vector<Vector<double>>& counterweights) {
    const Problem& problem = bound.problem;
    const IterateOptions common{batch, project, output_named(output), max_steps, tol};
    const SubgradientOptions options{
        common,      radius, count_idle_steps,           random_stops,
        stop_sample, seed,   intercept_named(intercept), Schedule::named(schedule, step_parameter)};
    const Start start = make_start(problem, start_w, start_t, start_q, counterweights);
    const auto sampler = sampler_of(problem.n_rows(), sampling, visits, batch, seed);
    return with_context(run, solve_subgradient, problem, options, *sampler, start);
}

double trial(const BoundProblem& bound, double eta, const Vector<RowNumber>& sample) {
    return trial_objective(bound.problem, eta, to_rows(sample, bound.problem.n_rows()));
}

Solution sgd(const BoundProblem& bound, const Run& run, bool complete_epochs, std::uint64_t multiplicity,
             std::uint64_t period, std::uint64_t burst, double check_factor, double tol,
             std::uint64_t max_passes, std::uint64_t max_steps, const char* sampling, std::uint64_t seed,
             const MaybeVector<RowNumber>& visits, const MaybeVector<double>& start_w, std::uint64_t start_t,
             bool last) {
    const Problem& problem = bound.problem;
    const SgdOptions options{check_factor,    tol,          max_passes, max_steps, last,
                             complete_epochs, multiplicity, period,     burst};
    const Start start = make_start(problem, start_w, start_t);
    const auto sampler = sampler_of(problem.n_rows(), sampling, visits, 1, seed);
    return with_context(run, solve_sgd, problem, options, *sampler, start);
}

Solution sdca(const BoundProblem& bound, const Run& run, bool shrink, bool blocks, double max_epochs,
              double tol, double rho, std::size_t joins, std::uint64_t seed,
              const MaybeVector<RowNumber>& visits, const MaybeVector<double>& start_w, std::uint64_t start_t,
              const MaybeVector<double>& start_q) {
    const Problem& problem = bound.problem;
    const SdcaOptions options{shrink, blocks, tol, max_epochs, seed, to_rows(visits, problem.n_rows()),
                              rho,    joins};
    const Start start = make_start(problem, start_w, start_t, start_q);
    return with_context(run, solve_sdca, problem, options, start);
}

Solution sgd_qn(const BoundProblem& bound, const Run& run, double t0, std::uint64_t skip,
                const char* sampling, const char* output, std::uint64_t max_steps, double tol,
                std::uint64_t seed, const MaybeVector<RowNumber>& visits, const MaybeVector<double>& start_w,
                std::uint64_t start_t, const MaybeVector<double>& start_q) {
    const Problem& problem = bound.problem;
    const SgdQnOptions options{{1, false, output_named(output), max_steps, tol}, t0, skip};
    const Start start = make_start(problem, start_w, start_t, start_q);
    const auto sampler = sampler_of(problem.n_rows(), sampling, visits, 1, seed);
    return with_context(run, solve_sgd_qn, problem, options, *sampler, start);
}

Solution mpu(const BoundProblem& bound, const Run& run, double delta, bool blocks, double max_epochs,
             double tol, std::uint64_t seed, const MaybeVector<RowNumber>& visits,
             const MaybeVector<double>& start_w, std::uint64_t start_t, const MaybeVector<double>& start_q) {
    const Problem& problem = bound.problem;
    const MpuOptions options{delta, tol, max_epochs, blocks, seed, to_rows(visits, problem.n_rows())};
    const Start start = make_start(problem, start_w, start_t, start_q);
    return with_context(run, solve_mpu, problem, options, start);
}

Solution interior_point(const BoundProblem& bound, const Run& run, std::uint64_t max_iterations, double tol,
                        const MaybeVector<double>& start_w, std::uint64_t start_t,
                        const MaybeVector<double>& start_q, double goal) {
    const Problem& problem = bound.problem;
    const Start start = make_start(problem, start_w, start_t, start_q);
    return with_context(run, [&](Context& context) {
        return solve_interior_point(problem, {tol, max_iterations, goal}, start, context);
    });
}

Solution ocas(const BoundProblem& bound, const Run& run, bool line_search, std::uint64_t max_iterations,
              double tol, const MaybeVector<double>& start_w, std::uint64_t start_t,
              const MaybeVector<double>& start_q) {
    const Problem& problem = bound.problem;
    const OcasOptions options{tol, max_iterations, line_search};
    const Start start = make_start(problem, start_w, start_t, start_q);
    return with_context(run, solve_ocas, problem, options, start);
}

Solution newton(const BoundProblem& bound, const Run& run, bool exact, std::uint64_t max_iterations,
                double tol, double goal, const MaybeVector<double>& start_w, std::uint64_t start_t) {
    const Problem& problem = bound.problem;
    const NewtonOptions options{tol, max_iterations, exact, goal};
    const Start start = make_start(problem, start_w, start_t);
    return with_context(run, solve_newton, problem, options, start);
}

Bounds certify_point(const BoundProblem& bound, const Run& run, const Vector<double>& w,
                     const Vector<double>& q, double tol) {
    const Start point = make_start(bound.problem, w, 0, q);
    return with_context(run, certify, bound.problem, point.w, point.q, tol);
}

}  // namespace

// Each in the file of its name.
using Bindings = void(nb::module_& m);
Bindings bind_features, bind_files, bind_classes, bind_sequence, bind_kernel, bind_part, bind_probes,
    bind_scores, bind_stream, bind_text;

NB_MODULE(PEGASOS_MODULE, m) {
    m.doc() = "The compiled core, for one instruction set.";
#ifdef NDEBUG
    // Threads that live as long as the process, such as Dask's, hold objects at its end, which is no leak.
    // Builds that are not for release, those of `make sanitize` among them, still tell of such objects.
    nb::set_leak_warnings(false);
#endif
    m.attr("level") = NB_TOSTRING(PEGASOS_MODULE);

    nb::class_<Rows>(m, "Rows", "A matrix of examples, used in place.");
    m.def("dense_rows", &dense_rows<float>, "X"_a.noconvert(), "bias"_a, "rescaled"_a = false);
    m.def("dense_rows", &dense_rows<double>, "X"_a.noconvert(), "bias"_a, "rescaled"_a = false);
    const auto def_csr = [&]<class T, class Index>(T, Index) {
        m.def("csr_rows", &csr_rows<T, Index>, "values"_a.noconvert(), "columns"_a.noconvert(),
              "starts"_a.noconvert(), "n_features"_a, "bias"_a, "rescaled"_a = false);
    };
    def_csr(float{}, std::int32_t{});
    def_csr(double{}, std::int32_t{});
    def_csr(float{}, std::int64_t{});
    def_csr(double{}, std::int64_t{});

    nb::class_<BoundProblem>(m, "Problem", "Rows, labels or targets, weights, C and loss.")
        .def("__init__", &make_problem, "rows"_a, "y"_a, "s"_a, "C"_a, "loss"_a, "free_intercept"_a = false,
             "parameter"_a = 0.0, nb::keep_alive<1, 2>());
    nb::class_<Run>(m, "Run",
                    "Threads, time limit and callbacks of a run; `clock` tells the time, where given.")
        .def(nb::init<std::size_t, double, double, double, std::optional<nb::callable>,
                      std::optional<nb::callable>, std::optional<nb::callable>, bool,
                      std::optional<nb::bytes>, bool, std::optional<nb::callable>, double, double>(),
             "n_jobs"_a = 1, "elapsed"_a = 0.0, "max_seconds"_a = std::numeric_limits<double>::infinity(),
             "last_seconds"_a = 0.0, "report"_a.none() = nb::none(), "progress"_a.none() = nb::none(),
             "clock"_a.none() = nb::none(), "keep"_a = false, "state"_a.none() = nb::none(),
             "finished"_a = false, "save"_a.none() = nb::none(), "save_at"_a = 0.0, "save_every"_a = 0.0);
    nb::class_<Check>(m, "Check", "What a listener may ask for while it is told of a check.")
        .def(
            "weights",
            [](const Check& check) {
                if (!check.weights)
                    throw std::runtime_error(
                        "weights() is for the time that the listener is told of a check, which is over; call "
                        "it there");
                return to_numpy((*check.weights)());
            },
            nb::rv_policy::move);
    m.def("end_runs", &Running::end_all, "seconds"_a,
          "Ends all runs on other threads, as the interpreter exits; waits for at most so many seconds.");
    m.def("forget_runs", &Running::forget, "In the child of a fork, which has no other threads.");

    nb::class_<RowsFacts>(m, "RowsFacts", "What `inspect` found; row numbers are -1 where nothing is wrong.")
        .def_ro("bad_structure", &RowsFacts::bad_structure)
        .def_ro("not_finite", &RowsFacts::not_finite)
        .def_ro("largest_squared_norm", &RowsFacts::largest_squared_norm)
        .def_ro("entries", &RowsFacts::entries)
        .def_ro("canonical", &RowsFacts::canonical);
    m.def(
        "inspect",
        [](Rows& rows, const Run& run) {
            rows.rows.set_squares(nullptr);
            RowsFacts report = with_context(run, [&](Context& context) {
                return inspect(rows.rows, rows.n_stored, context.team, context.monitor);
            });
            rows.squares = std::move(report.squares);
            rows.rows.set_squares(rows.squares.get());
            return report;
        },
        "rows"_a, "run"_a);

    nb::class_<Bounds>(m, "Bounds", "A primal value and a true lower bound on the optimum.")
        .def_ro("primal", &Bounds::primal)
        .def_ro("dual", &Bounds::dual)
        .def_ro("above", &Bounds::above)
        .def_ro("below", &Bounds::below);
    m.def("certify", &certify_point, "problem"_a, "run"_a, "w"_a, "q"_a, "tol"_a = 0.0);
    m.def("relative_gap", &relative_gap, "primal"_a, "dual"_a);
    nb::class_<Checks> checks(m, "Checks",
                              "When a full check of the bounds is worth its pass over the rows.");
    checks.def(nb::init<double, double, std::uint64_t>(), "tol"_a, "usual"_a, "first_record"_a = 16)
        .def("met", &Checks::met, "gap"_a, nb::lock_self(),
             "An epoch was made, in which the margins told of this gap.")
        .def("due", &Checks::due, "dual"_a, "besides"_a = 0.0, nb::lock_self(),
             "Whether a check is due: at a record, or where the gap expected promises tol.")
        .def("found", &Checks::found, "gap"_a, nb::lock_self(), "A check found this gap.");
    bind_state(checks);

    nb::class_<Solution>(m, "Solution", "What a solver returns.")
        .def_prop_ro("w", array_of(&Solution::w), nb::rv_policy::move)
        .def_prop_ro("q", array_of(&Solution::q), nb::rv_policy::move)
        .def_ro("t", &Solution::t)
        .def_ro("steps", &Solution::steps)
        .def_ro("epochs", &Solution::epochs)
        .def_ro("seconds", &Solution::seconds)
        .def_ro("reason", &Solution::reason)
        .def_ro("bounds", &Solution::bounds)
        .def_prop_ro("met", array_of(&Solution::met), nb::rv_policy::move)
        .def_ro("intercept_slope", &Solution::intercept_slope)
        .def_prop_ro("history", &history_of<Solution>);
    m.def("subgradient", &subgradient, "problem"_a, "run"_a, nb::kw_only(), "schedule"_a, "step_parameter"_a,
          "batch"_a, "sampling"_a, "project"_a, "radius"_a, "count_idle_steps"_a, "output"_a,
          "random_stops"_a, "stop_sample"_a, "max_steps"_a, "tol"_a, "seed"_a, "intercept"_a,
          "visits"_a.none(), "start_w"_a.none(), "start_t"_a, "start_q"_a.none(), "counterweights"_a);
    m.def(
        "neighbours_alike",
        [](const BoundProblem& bound, std::uint64_t seed) { return neighbours_alike(bound.problem, seed); },
        "problem"_a, "seed"_a);
    m.def("trial_objective", &trial, "problem"_a, "eta"_a, "sample"_a);
    m.def("sgd", &sgd, "problem"_a, "run"_a, nb::kw_only(), "complete_epochs"_a, "multiplicity"_a, "period"_a,
          "burst"_a, "check_factor"_a, "tol"_a, "max_passes"_a, "max_steps"_a, "sampling"_a, "seed"_a,
          "visits"_a.none(), "start_w"_a.none(), "start_t"_a, "last"_a = false);
    m.def("sdca", &sdca, "problem"_a, "run"_a, nb::kw_only(), "shrink"_a, "blocks"_a, "max_epochs"_a, "tol"_a,
          "rho"_a, "joins"_a, "seed"_a, "visits"_a.none(), "start_w"_a.none(), "start_t"_a,
          "start_q"_a.none());

    m.def("sgd_qn", &sgd_qn, "problem"_a, "run"_a, nb::kw_only(), "t0"_a, "skip"_a, "sampling"_a, "output"_a,
          "max_steps"_a, "tol"_a, "seed"_a, "visits"_a.none(), "start_w"_a.none(), "start_t"_a,
          "start_q"_a.none());
    m.def("mpu", &mpu, "problem"_a, "run"_a, nb::kw_only(), "delta"_a, "blocks"_a, "max_epochs"_a, "tol"_a,
          "seed"_a, "visits"_a.none(), "start_w"_a.none(), "start_t"_a, "start_q"_a.none());
    m.def("interior_point", &interior_point, "problem"_a, "run"_a, nb::kw_only(), "max_iterations"_a, "tol"_a,
          "start_w"_a.none(), "start_t"_a, "start_q"_a.none(), "goal"_a = 0.0);
    m.def("ocas", &ocas, "problem"_a, "run"_a, nb::kw_only(), "line_search"_a, "max_iterations"_a, "tol"_a,
          "start_w"_a.none(), "start_t"_a, "start_q"_a.none());
    m.def("newton", &newton, "problem"_a, "run"_a, nb::kw_only(), "exact"_a, "max_iterations"_a, "tol"_a,
          "goal"_a = 0.0, "start_w"_a.none(), "start_t"_a);

    for (Bindings* bind : {bind_sequence, bind_features, bind_files, bind_classes, bind_kernel, bind_part,
                           bind_probes, bind_scores, bind_stream, bind_text})
        bind(m);
}
