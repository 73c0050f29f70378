// What Python sees of the core. No arithmetic here: arrays become spans, names go to dispatch.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.hpp"
#include "dispatch.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace pegasos;

namespace {

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

/// A view of the caller's matrix. It holds the Python arrays, so that they outlive it.
struct Rows {
    AnyRows rows;
    std::size_t n_stored;
    std::vector<nb::object> owners;
};

template <class T>
Rows dense_rows(const Matrix<T>& X, double bias) {
    if (X.shape(1) > 1 && X.stride(1) != 1) throw std::invalid_argument("rows must be contiguous");
    const std::size_t stride = X.shape(0) > 1 ? static_cast<std::size_t>(X.stride(0)) : X.shape(1);
    return {
        DenseRows<T>{X.data(), X.shape(0), X.shape(1), stride, bias}, X.shape(0) * X.shape(1), {nb::cast(X)}};
}

template <class T, class Index>
Rows csr_rows(const Vector<T>& values, const Vector<Index>& columns, const Vector<Index>& starts,
              std::size_t n_features, double bias) {
    if (starts.shape(0) == 0) throw std::invalid_argument("a CSR matrix needs at least one row start");
    const std::size_t n_rows = starts.shape(0) - 1, n_stored = std::min(values.shape(0), columns.shape(0));
    return {CsrRows<T, Index>{values.data(), columns.data(), starts.data(), n_rows, n_features, bias},
            n_stored,
            {nb::cast(values), nb::cast(columns), nb::cast(starts)}};
}

/// Entries of a weight vector: one per feature, and the constant feature's.
std::size_t dimension(const Rows& rows) {
    return std::visit([](const auto& r) { return r.n_features; }, rows.rows) + 1;
}

ProblemData problem_data(const Rows& rows, const Vector<double>& y, const Vector<double>& s, double C,
                         std::string loss) {
    const std::size_t n_rows = std::visit([](const auto& r) { return r.n_rows; }, rows.rows);
    if (y.shape(0) != n_rows || s.shape(0) != n_rows) throw std::invalid_argument("lengths differ");
    return {{y.data(), n_rows}, {s.data(), n_rows}, C, std::move(loss)};
}

std::vector<double> to_vector(const std::optional<Vector<double>>& array, std::size_t size) {
    if (!array) return {};
    if (array->shape(0) != size) throw std::invalid_argument("lengths differ");
    return {array->data(), array->data() + array->shape(0)};
}

/// Wraps a Python callable so that the core can call it without the GIL, and lets Ctrl-C through.
std::function<void(double, double)> heartbeat(std::optional<nb::callable> progress) {
    return [progress = std::move(progress)](double epoch, double seconds) {
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress) (*progress)(epoch, seconds);
    };
}

Solution subgradient(const Rows& rows, const Vector<double>& y, const Vector<double>& s, double C,
                     const std::string& loss, const std::string& schedule, double step_parameter,
                     std::uint64_t batch, const std::string& sampling, bool project, bool count_idle_steps,
                     const std::string& output, std::uint64_t random_stops, std::uint64_t stop_sample,
                     std::uint64_t max_steps, double tol, std::uint64_t seed, double elapsed,
                     double max_seconds, std::optional<Vector<std::uint32_t>> sequence,
                     std::optional<Vector<double>> start_w, std::uint64_t start_t,
                     std::optional<Vector<double>> start_q, std::optional<nb::callable> report,
                     std::optional<nb::callable> progress) {
    const ProblemData data = problem_data(rows, y, s, C, loss);
    SubgradientRequest request{
        schedule,
        step_parameter,
        sampling,
        {},
        {batch, project, count_idle_steps, output_named(output), random_stops, stop_sample, max_steps, tol,
         seed},
        {to_vector(start_w, dimension(rows)), start_t, to_vector(start_q, data.labels.size())},
        {}};
    if (sequence) {
        request.sequence.assign(sequence->data(), sequence->data() + sequence->shape(0));
        for (const auto i : request.sequence)
            if (i >= data.labels.size()) throw std::invalid_argument("row number out of range");
    }
    if (report)
        request.report = [&](const Record& record) {
            nb::gil_scoped_acquire gil;
            (*report)(record.seconds, record.epoch, record.primal, record.dual);
        };
    Monitor monitor(elapsed, max_seconds, heartbeat(progress));
    nb::gil_scoped_release release;
    return std::visit([&](const auto& r) { return solve_subgradient(r, data, request, monitor); }, rows.rows);
}

}  // namespace

void bind_probes(nb::module_& m);    // probes.cpp
void bind_svmlight(nb::module_& m);  // svmlight.cpp

NB_MODULE(PEGASOS_MODULE, m) {
    m.doc() = "The compiled core, for one instruction set.";
    m.attr("level") = NB_TOSTRING(PEGASOS_MODULE);

    nb::class_<Rows>(m, "Rows", "A matrix of examples, used in place.");
    m.def("dense_rows", &dense_rows<float>, "X"_a.noconvert(), "bias"_a);
    m.def("dense_rows", &dense_rows<double>, "X"_a.noconvert(), "bias"_a);
    const auto def_csr = [&]<class T, class Index>(T, Index) {
        m.def("csr_rows", &csr_rows<T, Index>, "values"_a.noconvert(), "columns"_a.noconvert(),
              "starts"_a.noconvert(), "n_features"_a, "bias"_a);
    };
    def_csr(float{}, std::int32_t{});
    def_csr(double{}, std::int32_t{});
    def_csr(float{}, std::int64_t{});
    def_csr(double{}, std::int64_t{});

    nb::class_<RowsReport>(m, "RowsReport",
                           "What `inspect` found; row numbers are -1 where nothing is wrong.")
        .def_ro("bad_structure", &RowsReport::bad_structure)
        .def_ro("not_finite", &RowsReport::not_finite)
        .def_ro("largest_squared_norm", &RowsReport::largest_squared_norm);
    m.def(
        "inspect",
        [](const Rows& rows) {
            Monitor monitor(0, std::numeric_limits<double>::infinity(), heartbeat({}));
            nb::gil_scoped_release release;
            return std::visit([&](const auto& r) { return inspect_rows(r, rows.n_stored, monitor); },
                              rows.rows);
        },
        "rows"_a);

    nb::class_<Bounds>(m, "Bounds", "A primal value and a true lower bound on the optimum.")
        .def_ro("primal", &Bounds::primal)
        .def_ro("dual", &Bounds::dual);
    m.def(
        "certify",
        [](const Rows& rows, const Vector<double>& y, const Vector<double>& s, double C,
           const std::string& loss, const Vector<double>& w, const Vector<double>& q) {
            const ProblemData data = problem_data(rows, y, s, C, loss);
            const auto w_ = to_vector(w, dimension(rows)), q_ = to_vector(q, data.labels.size());
            Monitor monitor(0, std::numeric_limits<double>::infinity(), heartbeat({}));
            nb::gil_scoped_release release;
            return std::visit([&](const auto& r) { return certify(r, data, w_, q_, monitor); }, rows.rows);
        },
        "rows"_a, "y"_a, "s"_a, "C"_a, "loss"_a, "w"_a, "q"_a);
    m.def("relative_gap", &relative_gap, "primal"_a, "dual"_a);

    nb::class_<Solution>(m, "Solution", "What a solver returns.")
        .def_prop_ro(
            "w", [](const Solution& s) { return to_numpy(s.w); }, nb::rv_policy::move)
        .def_prop_ro(
            "q", [](const Solution& s) { return to_numpy(s.q); }, nb::rv_policy::move)
        .def_ro("t", &Solution::t)
        .def_ro("steps", &Solution::steps)
        .def_ro("epochs", &Solution::epochs)
        .def_ro("seconds", &Solution::seconds)
        .def_ro("reason", &Solution::reason)
        .def_ro("bounds", &Solution::bounds)
        .def_prop_ro("history", [](Solution& s) {
            std::vector<std::vector<double>> rows;
            for (const auto& r : s.history) rows.push_back({r.seconds, r.epoch, r.primal, r.dual});
            return rows;
        });
    m.def("subgradient", &subgradient, "rows"_a, "y"_a, "s"_a, "C"_a, "loss"_a, "schedule"_a,
          "step_parameter"_a, "batch"_a, "sampling"_a, "project"_a, "count_idle_steps"_a, "output"_a,
          "random_stops"_a, "stop_sample"_a, "max_steps"_a, "tol"_a, "seed"_a, "elapsed"_a, "max_seconds"_a,
          "sequence"_a.none(), "start_w"_a.none(), "start_t"_a, "start_q"_a.none(), "report"_a.none(),
          "progress"_a.none());

    bind_probes(m);
    bind_svmlight(m);
}
