// What the bindings of all solvers share: rows and settings as Python holds them, and how a solve is called.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "base/monitor.hpp"
#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "base/threads.hpp"
#include "rows/any_rows.hpp"

namespace pegasos {

namespace nb = nanobind;

/// A view of the caller's matrix. It holds the Python arrays, so that they outlive it.
struct Rows {
    AnyRows rows;
    std::size_t n_stored;
    std::vector<nb::object> owners;
    std::unique_ptr<double[]> squares = nullptr;  // of which `rows` has the address
};

/// A problem as Python holds it, with the arrays it looks at; the binding keeps its rows alive.
template <class Problem>
struct Held {
    Problem problem;
    std::vector<nb::object> owners;
};

/// What every solver is given besides problem and options.
struct Run {
    std::size_t n_jobs;
    double elapsed, max_seconds;
    std::optional<nb::callable> report, progress, clock;
};

inline std::vector<double> to_vector(const std::optional<Vector<double>>& array, std::size_t size) {
    if (!array) return {};
    if (array->shape(0) != size) throw std::invalid_argument("lengths differ");
    return {array->data(), array->data() + array->shape(0)};
}

inline std::vector<RowNumber> to_rows(const std::optional<Vector<RowNumber>>& array, std::size_t n_rows) {
    if (!array) return {};
    std::vector<RowNumber> rows(array->data(), array->data() + array->shape(0));
    for (const auto i : rows)
        if (i >= n_rows) throw std::invalid_argument("row number out of range");
    return rows;
}

/// Calls f(context) without the GIL; what the core calls back takes it, and lets Ctrl-C through.
template <class F>
auto with_context(const Run& run, F f) {
    const auto heartbeat = [&](double epoch, double seconds) {
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (run.progress) (*run.progress)(epoch, seconds);
    };
    std::function<double()> clock;
    if (run.clock) {
        clock = [&] {
            nb::gil_scoped_acquire gil;
            return nb::cast<double>((*run.clock)());
        };
    }
    Monitor monitor(run.elapsed, run.max_seconds, heartbeat, clock);
    const auto report = [&](const Record& record) {
        nb::gil_scoped_acquire gil;
        if (run.report) (*run.report)(record.seconds, record.epoch, record.primal, record.dual);
    };
    nb::gil_scoped_release release;
    Team team(std::clamp<std::size_t>(run.n_jobs, 1, Team::most));
    Context context{team, monitor, report};
    return f(context);
}

}  // namespace pegasos
