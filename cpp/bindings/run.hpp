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
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <thread>

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
    double elapsed, max_seconds, last_seconds;
    std::optional<nb::callable> report, progress, clock;
    bool keep;  // what the last check found, where Ctrl-C ends the run
    // Of checkpoints: the one to go on from, or what the run found; save(bytes, finished), next at a time in
    // seconds, and then every so often.
    std::optional<nb::bytes> state = {};
    bool finished = false;
    std::optional<nb::callable> save = {};
    double save_at = 0, save_every = 0;
};

/// What a listener may ask for while it is told of a check.
struct Check {
    const WeightsFunction* weights;

    /// Calls a listener, report(arguments..., check); whether it ends the run. The GIL is held.
    template <class... Arguments>
    static bool tell(const nb::callable& report, const Record& record, const WeightsFunction& weights,
                     Arguments... first) {
        const nb::object check = nb::cast(Check{&weights});
        struct Over {  // the weights change after it
            Check* check;
            ~Over() { check->weights = nullptr; }
        } over{nb::inst_ptr<Check>(check)};
        const nb::object stop =
            report(first..., record.seconds, record.epoch, record.primal, record.dual, check);
        const int truth = PyObject_IsTrue(stop.ptr());
        if (truth < 0) throw nb::python_error();
        return truth > 0;
    }
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

/// Whether a run came to its own end: one that was cut short goes on from its last checkpoint.
template <class Found>
bool is_complete(const Found& found) {
    if constexpr (requires { found.reason; })
        return found.reason != "max_time" && found.reason != "interrupt" && found.reason != "callback";
    else if constexpr (requires { found.run; })
        return is_complete(found.run);
    else
        return std::all_of(found.begin(), found.end(), [](const auto& one) { return is_complete(one); });
}

/// What checkpoints can hold: a solution, or those of several classes.
template <class Result>
constexpr bool is_solution = requires(Result result, State state) { result.state(state); };
template <class One>
constexpr bool is_solution<std::vector<One>> = is_solution<One>;

/// The result of a run, with checkpoints where they are wanted: f(context), from where the last one left
/// off, or what it found.
template <class F>
auto keeping_state(const Run& run, Context& context, F f,
                   std::function<void(const std::string&, bool)> save) {
    using Result = decltype(f(context));
    if constexpr (is_solution<Result>) {
        if (run.save) {
            const std::string_view stored =
                run.state ? std::string_view(run.state->c_str(), run.state->size()) : std::string_view{};
            Checkpoints checkpoints(stored, run.save_every, run.save_at, context.monitor, std::move(save));
            Result result;
            if (run.finished) {
                checkpoints.resume([&](State& state) { state(result); });
                return result;
            }
            context.checkpoints = &checkpoints;
            result = f(context);
            if (is_complete(result)) checkpoints.finish(result);
            return result;
        }
    }
    return f(context);
}

/// A call that works without the GIL. Python ends a thread that asks for the GIL while the interpreter exits,
/// in the middle of what it does, and C++ does not survive that: all calls must have ended before.
class Running {
public:
    Running() {
        refuse_at_exit();
        ++count_;
    }
    ~Running() { --count_; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    /// Throws where the interpreter is about to exit, but on the thread that ends it. The GIL is held.
    static void refuse_at_exit() {
        if (!ending_ || std::this_thread::get_id() == ender_) return;
        nb::set_leak_warnings(false);  // a thread that is left behind has what it works with
        PyErr_SetString(PyExc_SystemExit, "the interpreter exits");
        throw nb::python_error();
    }

    /// Ends all calls, which takes as long as from one heartbeat to the next; for at most so many seconds.
    static void end_all(double seconds) {
        ender_ = std::this_thread::get_id();
        ending_ = true;
        const nb::gil_scoped_release release;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        while (count_ > 0 && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    /// In the child of a fork, which has none of the threads.
    static void forget() { count_ = 0; }

private:
    static inline std::atomic<std::size_t> count_ = 0;
    static inline std::atomic<bool> ending_ = false;
    static inline std::thread::id ender_;
};

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
                Running::refuse_at_exit();
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
    Monitor monitor(run.elapsed, run.max_seconds, run.last_seconds, heartbeat, clock);
    // It leaves the end by Ctrl-C to the heartbeat.
    Report report;
    if (run.report)
        report = [&](const Record& record, const WeightsFunction& weights) {
            bool stop = false;
            call_out([&] { stop = Check::tell(*run.report, record, weights); });
            return stop;
        };
    struct Late {  // an interrupt that came with the last report, of a run that cannot say so
        const std::exception_ptr& interrupt;
        const bool& told;
        ~Late() {
            if (interrupt && !told) PyErr_SetInterrupt();
        }
    } late{interrupt, told};
    const Running running;
    nb::gil_scoped_release release;
    Team team(std::clamp<std::size_t>(run.n_jobs, 1, Team::most));
    Context context{team, monitor, report};
    try {
        return keeping_state(
            run, context,
            [&](Context& own) {
                if constexpr (requires { f(arguments..., own).reason = ""; }) {
                    auto found = f(arguments..., own);
                    if (interrupt) found.reason = "interrupt";
                    told = true;
                    return found;
                } else
                    return f(arguments..., own);
            },
            [&](const std::string& bytes, bool finished) {
                call_out([&] { (*run.save)(nb::bytes(bytes.data(), bytes.size()), finished); });
            });
    } catch (const Ended&) {
        if (interrupt) std::rethrow_exception(interrupt);  // before there was anything to keep
        throw;
    }
}

/// The state of an object that stays between calls, as bytes: for runs that are driven from Python.
template <class T>
void bind_state(nb::class_<T>& of) {
    of.def(
        "dump",
        [](T& self) {
            State state;
            state(self);
            return nb::bytes(state.bytes().data(), state.bytes().size());
        },
        nb::lock_self(), "All it is, for `load` to go on from, to the same bits.");
    of.def(
        "load",
        [](T& self, const nb::bytes& stored) {
            State state(std::string_view(stored.c_str(), stored.size()));
            state(self);
            state.end();
        },
        "stored"_a, nb::lock_self());
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
