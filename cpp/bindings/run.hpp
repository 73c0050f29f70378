// What all bindings share: nanobind with the same conversions in every file, arrays without copies, rows and
// settings as Python holds them, and how a solve is called.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>

#include "base/growing_array.hpp"
#include "base/sampling.hpp"
#include "base/solution.hpp"
#include "linear/problem.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace pegasos;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using MaybeVector = std::optional<Vector<T>>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
/// A vector that the core changes.
using Changed = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Numpy = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
std::span<const T> span_of(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

/// A NumPy array that owns the memory.
template <class T>
nb::object released(GrowingArray<T>& array, std::size_t size) {
    T* const data = array.release(size);
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return nb::cast(Numpy<T>(data, {size}, owner));
}

/// A NumPy array that owns the vector.
template <class T>
Numpy<T> to_numpy(std::vector<T> vector) {
    auto* owned = new std::vector<T>(std::move(vector));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {owned->data(), {owned->size()}, owner};
}

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
using BoundProblem = Held<Problem>;

/// What every solver is given besides problem and options.
struct Run {
    std::size_t n_jobs;
    double elapsed, max_seconds;
    std::optional<nb::callable> report, progress, clock;
    bool keep;  // what the last check found, where Ctrl-C ends the run
};

inline std::vector<double> to_vector(const MaybeVector<double>& array, std::size_t size) {
    if (!array) return {};
    if (array->shape(0) != size) throw std::invalid_argument("lengths differ");
    return {array->data(), array->data() + array->shape(0)};
}

inline std::vector<RowNumber> to_rows(const MaybeVector<RowNumber>& array, std::size_t n_rows) {
    if (!array) return {};
    std::vector<RowNumber> rows(array->data(), array->data() + array->shape(0));
    for (const auto i : rows)
        if (i >= n_rows) throw std::invalid_argument("row number out of range");
    return rows;
}

/// The sampler of that name, or the given visits of n examples.
inline std::unique_ptr<Sampler> sampler_of(std::size_t n, const std::string& sampling,
                                           const MaybeVector<RowNumber>& visits, std::uint64_t batch,
                                           std::uint64_t seed) {
    return make_sampler(sampling, to_rows(visits, n), n, batch, seed);
}

/// Calls f(arguments..., context) without the GIL; what the core calls back takes it, and lets Ctrl-C
/// through.
template <class F, class... Arguments>
auto with_context(const Run& run, F f, Arguments&&... arguments) {
    std::exception_ptr interrupt;
    bool told = false;
    const auto call_out = [&](auto call) {
        nb::gil_scoped_acquire gil;
        try {
            call();
        } catch (nb::python_error& error) {
            if (!run.keep || !error.matches(PyExc_KeyboardInterrupt)) throw;
            interrupt = std::current_exception();
        }
    };
    const auto heartbeat = [&](double epoch, double seconds) {
        if (!interrupt)
            call_out([&] {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                if (run.progress) (*run.progress)(epoch, seconds);
            });
        if (interrupt) {
            told = true;
            throw Ended{"interrupt"};
        }
    };
    std::function<double()> clock;
    if (run.clock) {
        clock = [&] {
            nb::gil_scoped_acquire gil;
            return nb::cast<double>((*run.clock)());
        };
    }
    Monitor monitor(run.elapsed, run.max_seconds, heartbeat, clock);
    // It leaves the end of the run to the heartbeat: bounds are told before their weights are kept.
    const auto report = [&](const Record& record) {
        call_out([&] {
            if (run.report) (*run.report)(record.seconds, record.epoch, record.primal, record.dual);
        });
    };
    struct Late {  // an interrupt that came with the last report
        const std::exception_ptr& interrupt;
        const bool& told;
        ~Late() {
            if (interrupt && !told) PyErr_SetInterrupt();
        }
    } late{interrupt, told};
    nb::gil_scoped_release release;
    Team team(std::clamp<std::size_t>(run.n_jobs, 1, Team::most));
    Context context{team, monitor, report};
    try {
        return f(arguments..., context);
    } catch (const Ended&) {
        if (interrupt) std::rethrow_exception(interrupt);  // before there was anything to keep
        throw;
    }
}

/// The history of a solution: seconds, epoch, primal and dual value of each check.
template <class Solution>
std::vector<std::vector<double>> history_of(const Solution& solution) {
    std::vector<std::vector<double>> records;
    for (const Record& r : solution.history) records.push_back({r.seconds, r.epoch, r.primal, r.dual});
    return records;
}

/// A property that is a copy of a vector.
template <class T, class Class>
auto array_of(std::vector<T> Class::* member) {
    return [member](const Class& self) { return to_numpy(self.*member); };
}
