// What Python sees of the kernel machines.
#include <memory>
#include <variant>

#include "kernel/point_kernel.hpp"
#include "kernel/solvers/solve.hpp"
#include "kernel/water_level.hpp"
#include "run.hpp"

namespace {

/// Examples in the precision of the kernel; holds the Python arrays.
struct BoundPoints {
    std::variant<Points<float>, Points<double>> points;
    std::vector<nb::object> owners;
};

template <class T>
BoundPoints dense_points(const Matrix<T>& X) {
    return {Points<T>{X.shape(0), X.shape(1), X.data(), nullptr, nullptr}, {nb::cast(X)}};
}

template <class T>
BoundPoints csr_points(const Vector<T>& values, const Vector<std::int32_t>& columns,
                       const Vector<std::int64_t>& starts, std::size_t n_features) {
    if (starts.shape(0) == 0) throw std::invalid_argument("a CSR matrix needs at least one row start");
    return {Points<T>{starts.shape(0) - 1, n_features, values.data(), columns.data(), starts.data()},
            {nb::cast(values), nb::cast(columns), nb::cast(starts)}};
}

/// Values, columns and row starts of a dense matrix, without its zeros; None where more than `most` entries
/// are not zero.
template <class T>
nb::object entries_of(const Matrix<T>& X, std::size_t most, const Run& run) {
    auto found = with_context(run, [&](Context& context) {
        return sparse_entries(X.data(), X.shape(0), X.shape(1), most, context.team);
    });
    if (!found) return nb::none();
    const auto total = static_cast<std::size_t>(found->starts.back());
    return nb::make_tuple(released(found->values, total), released(found->columns, total),
                          to_numpy(std::move(found->starts)));
}

Kernel make_kernel(const char* name, double gamma, double coef0, int degree, bool differences) {
    return {Kernel::named(name), gamma, coef0, degree, differences};
}

/// A kernel matrix that is computed when asked for; holds what it is computed from.
struct BoundSource {
    AnySource source;
    std::vector<nb::object> owners;

    std::size_t size() const {
        return std::visit([](const auto& s) { return s->size(); }, source);
    }
};

BoundSource point_source(const BoundPoints& points, const Kernel& kernel, const Run& run,
                         double entries_error) {
    return std::visit(
        [&]<class Real>(const Points<Real>& p) {
            auto source = with_context(run, [&](Context& context) {
                if (kernel.differences && p.sparse())
                    throw std::invalid_argument("differences are those of dense examples");
                return std::make_unique<PointKernel<Real>>(p, kernel, context.team, entries_error);
            });
            return BoundSource{std::move(source), points.owners};
        },
        points.points);
}

Numpy<double> kernel_rows(const BoundSource& source, const Vector<RowNumber>& rows,
                          const MaybeVector<RowNumber>& columns, const Run& run) {
    const std::vector<RowNumber> wanted = to_rows(rows, source.size());
    const std::vector<RowNumber> across = to_rows(columns, source.size());
    const std::size_t width = across.empty() ? source.size() : across.size();
    std::vector<double> out(wanted.size() * width);
    with_context(run, [&](Context& context) {
        std::visit(
            [&]<class Real>(const std::unique_ptr<KernelSource<Real>>& s) {
                std::vector<Real> values(out.size());
                std::vector<Real*> places;
                for (std::size_t k = 0; k < wanted.size(); ++k) places.push_back(&values[k * width]);
                s->compute(wanted, across, places, context.team, context.monitor);
                std::copy(values.begin(), values.end(), out.begin());
            },
            source.source);
    });
    return to_numpy(std::move(out));
}

template <class Given>
BoundSource given_source(const Matrix<Given>& K) {
    if (K.shape(0) != K.shape(1)) throw std::invalid_argument("a kernel matrix is square");
    return {std::make_unique<GivenKernel<Given, Given>>(K.data(), K.shape(0), K.shape(0)), {nb::cast(K)}};
}

/// function(rows, out) writes whole rows of the matrix to the rows of the array `out`.
BoundSource called_source(const nb::callable& function, const Vector<double>& diagonal) {
    const std::size_t n = diagonal.shape(0);
    auto call = [function, n](std::span<const RowNumber> rows, std::span<double* const> out) {
        nb::gil_scoped_acquire gil;
        using Numbers = nb::ndarray<nb::numpy, const RowNumber, nb::ndim<1>>;
        using Block = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
        std::vector<double> block(rows.size() * n);
        function(Numbers(rows.data(), {rows.size()}, nb::none()),
                 Block(block.data(), {rows.size(), n}, nb::none()));
        for (std::size_t k = 0; k < rows.size(); ++k)
            std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(k * n), n, out[k]);
    };
    return {std::make_unique<CalledKernel<double>>(std::move(call),
                                                   std::vector<double>(diagonal.data(), diagonal.data() + n)),
            {function}};
}

/// Responses for a certificate; holds what they are computed from.
struct BoundSums {
    std::unique_ptr<ExactSums> sums;
    std::vector<nb::object> owners;
};

BoundSums point_sums(const BoundPoints& points, const Kernel& kernel, const MaybeVector<double>& shift,
                     bool compensated) {
    return std::visit(
        [&]<class Given>(const Points<Given>& p) {
            if (kernel.differences && p.sparse())
                throw std::invalid_argument("differences are those of dense examples");
            std::vector<double> less;
            if (shift) less = to_vector(*shift, p.n_features);
            return BoundSums{sums_of_points(p, kernel, std::move(less), compensated), points.owners};
        },
        points.points);
}

template <class Given>
BoundSums given_sums(const Matrix<Given>& K) {
    if (K.shape(0) != K.shape(1)) throw std::invalid_argument("a kernel matrix is square");
    return {sums_of_matrix(K.data(), K.shape(0)), {nb::cast(K)}};
}

/// None where the time is up before the end.
std::optional<KernelBounds> judge_machine(const BoundSums& sums, const KernelProblem& problem, const Run& run,
                                          const Vector<double>& beta, const Vector<double>& responses,
                                          double error, std::optional<double> b, bool dual_only) {
    const std::vector<double> variables = to_vector(beta, problem.size());
    const std::vector<double> f = to_vector(responses, problem.n_rows);
    return with_context(run, [&](Context& context) -> std::optional<KernelBounds> {
        const Monitor::Strict strict(context.monitor);
        try {
            return judge(problem, *sums.sums, variables, f, error, b ? &*b : nullptr, dual_only, context);
        } catch (const Ended&) {
            return std::nullopt;
        }
    });
}

KernelBounds machine_bounds(const KernelProblem& problem, const Vector<double>& beta,
                            const Vector<double>& responses, double error, double b) {
    return bounds_at(problem, to_vector(beta, problem.size()), to_vector(responses, problem.n_rows), error,
                     b);
}

KernelProblem make_problem(const BoundSource& source, const Vector<RowNumber>& row, const Vector<double>& t,
                           const Vector<double>& lo, const Vector<double>& hi, bool free_intercept) {
    const std::size_t m = row.shape(0);
    return {source.size(),   free_intercept,   to_rows(row, source.size()),
            to_vector(t, m), to_vector(lo, m), to_vector(hi, m)};
}

/// f(task, arguments...).
template <class F, class... Arguments>
KernelSolution solve(const BoundSource& source, const KernelProblem& problem, const Run& run,
                     std::size_t cached_rows, F f, Arguments&&... arguments) {
    if (problem.n_rows != source.size()) throw std::invalid_argument("lengths differ");
    return with_context(run, [&](Context& context) {
        return f(KernelTask{problem, source.source, cached_rows, context}, arguments...);
    });
}

KernelSolution smo(const BoundSource& source, const KernelProblem& problem, const Run& run,
                   std::size_t cached_rows, double tol, double max_epochs, std::size_t working_set,
                   std::size_t block, std::uint64_t seed, std::size_t part_from, bool gradual, bool brief,
                   const MaybeVector<double>& start) {
    const SmoOptions options{tol, max_epochs, working_set, block, seed, part_from, gradual, brief};
    const std::vector<double> begin = to_vector(start, problem.size());
    return solve(source, problem, run, cached_rows, solve_smo, options, begin);
}

KernelSolution kernel_sdca(const BoundSource& source, const KernelProblem& problem, const Run& run,
                           std::size_t cached_rows, double tol, double max_epochs, std::uint64_t seed,
                           const MaybeVector<RowNumber>& visits, const MaybeVector<double>& start) {
    const KernelSdcaOptions options{tol, max_epochs, seed};
    const std::vector<double> begin = to_vector(start, problem.size());
    const std::vector<RowNumber> rows = to_rows(visits, problem.size());
    return solve(source, problem, run, cached_rows, solve_sdca_by_kernel, options, begin, rows);
}

Selection selection_named(const std::string& name) {
    if (name == "random") return Selection::random;
    if (name == "gradient") return Selection::gradient;
    if (name == "active") return Selection::active;
    throw std::invalid_argument("unknown selection '" + name + "'");
}

KernelSolution lasvm(const BoundSource& source, const KernelProblem& problem, const Run& run,
                     std::size_t cached_rows, double tol, double max_epochs, double tau,
                     const char* selection, std::uint64_t seed, const MaybeVector<RowNumber>& visits,
                     const MaybeVector<double>& start) {
    const LasvmOptions options{tol, max_epochs, tau, selection_named(selection), seed};
    const std::vector<double> begin = to_vector(start, problem.size());
    const std::vector<RowNumber> rows = to_rows(visits, problem.size());
    return solve(source, problem, run, cached_rows, solve_lasvm, options, begin, rows);
}

WalkOutput walk_output_named(const std::string& name) {
    if (name == "last") return WalkOutput::last;
    if (name == "average") return WalkOutput::average;
    if (name == "suffix") return WalkOutput::suffix;
    if (name == "random") return WalkOutput::random;
    throw std::invalid_argument("unknown output '" + name + "'");
}

HoldOut make_hold_out(const KernelProblem& problem, const Labelled& examples,
                      const MaybeVector<double>& labels, std::size_t patience) {
    if (!labels) return {};
    if (examples.labels.size() + labels->shape(0) != problem.n_rows)
        throw std::invalid_argument("lengths differ");
    return {to_vector(labels, labels->shape(0)), patience};
}

/// The first rows of the kernel matrix; those held out follow.
Labelled make_labelled(const KernelProblem& problem, const Vector<double>& labels,
                       const Vector<double>& weights) {
    return {to_vector(labels, problem.size()), to_vector(weights, problem.size())};
}

KernelSolution kernel_walk(const BoundSource& source, const KernelProblem& problem, const Run& run,
                           std::size_t cached_rows, const Vector<double>& labels,
                           const Vector<double>& weights, bool perceptron, std::size_t batch,
                           const char* sampling, bool project, const char* output, bool best, double lambda,
                           double tol, std::uint64_t max_steps, std::uint64_t seed,
                           const MaybeVector<RowNumber>& visits, const MaybeVector<double>& held_out,
                           std::size_t patience) {
    const KernelWalkOptions options{perceptron, batch,     project, walk_output_named(output), best, lambda,
                                    tol,        max_steps, seed};
    const Labelled examples = make_labelled(problem, labels, weights);
    const HoldOut others = make_hold_out(problem, examples, held_out, patience);
    const auto sampler = sampler_of(problem.size(), sampling, visits, batch, seed);
    return solve(source, problem, run, cached_rows, solve_walk, options, examples, *sampler, others);
}

KernelSolution sbp(const BoundSource& source, const KernelProblem& problem, const Run& run,
                   std::size_t cached_rows, const Vector<double>& labels, const Vector<double>& weights,
                   double nu, double C, double tol, std::uint64_t max_steps, std::uint64_t seed,
                   const MaybeVector<RowNumber>& proposals, const MaybeVector<double>& uniforms,
                   const MaybeVector<double>& held_out, std::size_t patience) {
    const MarginOptions options{nu, C, tol, max_steps, seed};
    const Labelled examples = make_labelled(problem, labels, weights);
    const HoldOut others = make_hold_out(problem, examples, held_out, patience);
    std::vector<Proposal> given;
    if (proposals) {
        const std::vector<RowNumber> rows = to_rows(proposals, problem.size());
        const std::vector<double> draws = to_vector(uniforms, rows.size());
        for (std::size_t k = 0; k < draws.size(); ++k) given.push_back({rows[k], draws[k]});
    }
    return solve(source, problem, run, cached_rows, solve_sbp, options, examples, given, others);
}

KernelSolution simba(const BoundSource& source, const KernelProblem& problem, const Run& run,
                     std::size_t cached_rows, const Vector<double>& labels, const Vector<double>& weights,
                     double nu, double C, double tol, std::uint64_t max_steps, std::uint64_t seed,
                     const MaybeVector<double>& uniforms, const MaybeVector<double>& held_out,
                     std::size_t patience) {
    const MarginOptions options{nu, C, tol, max_steps, seed};
    const Labelled examples = make_labelled(problem, labels, weights);
    const HoldOut others = make_hold_out(problem, examples, held_out, patience);
    const std::vector<double> given = to_vector(uniforms, uniforms ? uniforms->shape(0) : 0);
    return solve(source, problem, run, cached_rows, solve_simba, options, examples, given, others);
}

/// For tests: gamma, b, the levels and shares of both basins over y_i g_i, for rows of g and volumes in turn.
std::vector<std::vector<double>> water_levels(const Matrix<double>& g, const Vector<double>& labels,
                                              const Vector<double>& weights, bool two,
                                              const std::vector<double>& volumes) {
    const std::size_t n = g.shape(1);
    const std::vector<double> y = to_vector(labels, n), s = to_vector(weights, n);
    if (g.shape(0) != volumes.size()) throw std::invalid_argument("a volume for each row of g");
    WaterLevel water(y, s, two);
    std::vector<std::vector<double>> found;
    for (std::size_t k = 0; k < volumes.size(); ++k) {
        const WaterLevel::Level level = water.find(g.data() + k * n, volumes[k]);
        found.push_back({level.gamma, level.b, level.at[0], level.at[1], level.share[0], level.share[1]});
    }
    return found;
}

/// For tests: beta after so many Newton steps of a problem with the targets t.
Numpy<double> newton_steps(const Matrix<double>& K, const Vector<double>& t, const Vector<double>& lo,
                           const Vector<double>& hi, const Vector<double>& beta, bool intercept,
                           std::size_t steps, const Run& run) {
    const std::size_t n = K.shape(0);
    for (const Vector<double>& own : {t, lo, hi, beta})
        if (own.shape(0) != n || K.shape(1) != n) throw std::invalid_argument("lengths differ");
    return to_numpy(with_context(run, [&](Context& context) {
        return make_newton_steps(K.data(), {t.data(), n}, {lo.data(), n}, {hi.data(), n}, {beta.data(), n},
                                 intercept, steps, context);
    }));
}

/// The examples that decisions are made of; holds the Python arrays.
struct BoundSupport {
    std::variant<std::unique_ptr<SupportVectors<float>>, std::unique_ptr<SupportVectors<double>>> vectors;
    std::vector<nb::object> owners;
};

BoundSupport support_vectors(const Kernel& kernel, const BoundPoints& points, const Run& run) {
    return std::visit(
        [&]<class Real>(const Points<Real>& p) {
            auto made = with_context(run, [&](Context& context) {
                if (kernel.differences && p.sparse())
                    throw std::invalid_argument("differences are those of dense examples");
                return std::make_unique<SupportVectors<Real>>(p, kernel, context.team);
            });
            return BoundSupport{std::move(made), points.owners};
        },
        points.points);
}

/// Flat, of shape (rows, groups, rows of coef); `ends` are those of the groups.
Numpy<double> support_decisions(const BoundSupport& support,
                                const nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>& coef,
                                const Vector<std::uint64_t>& given, const BoundPoints& rows, const Run& run) {
    const std::vector<std::size_t> ends(given.data(), given.data() + given.shape(0));
    return std::visit(
        [&]<class Real>(const std::unique_ptr<SupportVectors<Real>>& vectors) {
            const auto& points = std::get<Points<Real>>(rows.points);
            if (coef.shape(1) != vectors->size() || points.n_features != vectors->n_features() ||
                ends.empty() || ends.back() != vectors->size() || !std::is_sorted(ends.begin(), ends.end()))
                throw std::invalid_argument("lengths differ");
            const SupportWeights weights{coef.data(), coef.stride(0), coef.stride(1), coef.shape(0), ends};
            std::vector<double> out(points.n * ends.size() * weights.n_out);
            with_context(run, [&](Context& context) {
                vectors->add_decisions(weights, points, out.data(), context.team, context.monitor);
            });
            return to_numpy(std::move(out));
        },
        support.vectors);
}

}  // namespace

void bind_kernel(nb::module_& m) {
    nb::class_<BoundPoints>(m, "Points", "Examples in the precision of a kernel matrix.")
        .def(
            "byte_step",
            [](const BoundPoints& self) {
                Team alone;
                return std::visit([&](const auto& p) { return ByteRows::of(p, alone).step; }, self.points);
            },
            "The step of which the entries are multiples, where the core uses that they are; 0 elsewhere.");
    m.def("dense_points", &dense_points<float>, "X"_a.noconvert());
    m.def("dense_points", &dense_points<double>, "X"_a.noconvert());
    m.def("csr_points", &csr_points<float>, "values"_a.noconvert(), "columns"_a, "starts"_a, "n_features"_a);
    m.def("csr_points", &csr_points<double>, "values"_a.noconvert(), "columns"_a, "starts"_a, "n_features"_a);
    m.def("sparse_entries", &entries_of<float>, "X"_a.noconvert(), "most"_a, "run"_a);
    m.def("sparse_entries", &entries_of<double>, "X"_a.noconvert(), "most"_a, "run"_a);
    nb::class_<Kernel>(m, "Kernel", "A function of two examples.")
        .def(nb::new_(&make_kernel), "name"_a, "gamma"_a, "coef0"_a, "degree"_a, "differences"_a = false);
    nb::class_<BoundSource>(m, "KernelSource", "A kernel matrix that is computed when asked for.")
        .def_prop_ro(
            "error",
            [](const BoundSource& self) {
                return std::visit([](const auto& s) { return s->error(); }, self.source);
            },
            "How far a value may be from what it stands for.")
        .def("rows", &kernel_rows, "rows"_a, "columns"_a.none(), "run"_a,
             "For tests: some rows of the matrix, in double precision, of all columns or some.");
    m.def("point_source", &point_source, "points"_a, "kernel"_a, "run"_a, "entries_error"_a = 0.0);
    nb::class_<BoundSums>(m, "KernelSums", "Responses for a certificate, in double precision or better.");
    m.def("point_sums", &point_sums, "points"_a, "kernel"_a, "shift"_a.none(), "compensated"_a);
    m.def("given_sums", &given_sums<float>, "K"_a.noconvert());
    m.def("given_sums", &given_sums<double>, "K"_a.noconvert());
    nb::class_<KernelBounds>(m, "KernelBounds")
        .def_ro("bounds", &KernelBounds::bounds)
        .def_ro("b", &KernelBounds::b)
        .def_ro("squared_norm", &KernelBounds::squared_norm);
    m.def("machine_bounds", &machine_bounds, "problem"_a, "beta"_a, "responses"_a, "error"_a, "b"_a);
    m.def("judge", &judge_machine, "sums"_a, "problem"_a, "run"_a, "beta"_a, "responses"_a, "error"_a,
          "b"_a.none(), "dual_only"_a);
    m.def("given_source", &given_source<float>, "K"_a.noconvert());
    m.def("given_source", &given_source<double>, "K"_a.noconvert());
    m.def("called_source", &called_source, "function"_a, "diagonal"_a);
    nb::class_<KernelProblem>(m, "KernelProblem",
                              "Variables of a dual problem: their examples, targets, bounds.")
        .def(nb::new_(&make_problem), "source"_a, "row"_a, "t"_a, "lo"_a, "hi"_a, "free_intercept"_a)
        .def_prop_ro("size", &KernelProblem::size);
    nb::class_<KernelSolution>(m, "KernelSolution")
        .def_prop_ro("beta", array_of(&KernelSolution::beta), nb::rv_policy::move)
        .def_prop_ro("dual_beta", array_of(&KernelSolution::dual_beta), nb::rv_policy::move)
        .def_prop_ro("responses", array_of(&KernelSolution::responses), nb::rv_policy::move)
        .def_ro("error", &KernelSolution::error)
        .def_ro("b", &KernelSolution::b)
        .def_ro("bounds", &KernelSolution::bounds)
        .def_ro("epochs", &KernelSolution::epochs)
        .def_ro("steps", &KernelSolution::steps)
        .def_ro("updates", &KernelSolution::updates)
        .def_ro("seconds", &KernelSolution::seconds)
        .def_ro("squared_norm", &KernelSolution::squared_norm)
        .def_ro("evaluations", &KernelSolution::evaluations)
        .def_ro("nu", &KernelSolution::nu)
        .def_ro("reason", &KernelSolution::reason)
        .def_prop_ro("history", &history_of<KernelSolution>);
    m.def("smo", &smo, "source"_a, "problem"_a, "run"_a, nb::kw_only(), "cached_rows"_a, "tol"_a,
          "max_epochs"_a, "working_set"_a, "block"_a, "seed"_a, "part_from"_a, "gradual"_a = false,
          "brief"_a = false, "start"_a.none());
    m.def("kernel_sdca", &kernel_sdca, "source"_a, "problem"_a, "run"_a, nb::kw_only(), "cached_rows"_a,
          "tol"_a, "max_epochs"_a, "seed"_a, "visits"_a.none(), "start"_a.none());
    m.def("lasvm", &lasvm, "source"_a, "problem"_a, "run"_a, nb::kw_only(), "cached_rows"_a, "tol"_a,
          "max_epochs"_a, "tau"_a, "selection"_a, "seed"_a, "visits"_a.none(), "start"_a.none());
    m.def("kernel_walk", &kernel_walk, "source"_a, "problem"_a, "run"_a, nb::kw_only(), "cached_rows"_a,
          "labels"_a, "weights"_a, "perceptron"_a, "batch"_a, "sampling"_a, "project"_a, "output"_a, "best"_a,
          "lambda_"_a, "tol"_a, "max_steps"_a, "seed"_a, "visits"_a.none(), "held_out"_a.none(),
          "patience"_a);
    m.def("sbp", &sbp, "source"_a, "problem"_a, "run"_a, nb::kw_only(), "cached_rows"_a, "labels"_a,
          "weights"_a, "nu"_a, "C"_a, "tol"_a, "max_steps"_a, "seed"_a, "proposals"_a.none(),
          "uniforms"_a.none(), "held_out"_a.none(), "patience"_a);
    m.def("simba", &simba, "source"_a, "problem"_a, "run"_a, nb::kw_only(), "cached_rows"_a, "labels"_a,
          "weights"_a, "nu"_a, "C"_a, "tol"_a, "max_steps"_a, "seed"_a, "uniforms"_a.none(),
          "held_out"_a.none(), "patience"_a);
    m.def("newton_steps", &newton_steps, "K"_a, "t"_a, "lo"_a, "hi"_a, "beta"_a, "intercept"_a, "steps"_a,
          "run"_a);
    m.def("water_levels", &water_levels, "g"_a, "labels"_a, "weights"_a, "two"_a, "volumes"_a);
    nb::class_<BoundSupport>(m, "SupportVectors", "The examples that decisions are made of.")
        .def("decisions", &support_decisions, "coef"_a.noconvert(), "ends"_a, "rows"_a, "run"_a);
    m.def("support_vectors", &support_vectors, "kernel"_a, "points"_a, "run"_a);
}
