// Problems of several classes, jointly or each against the rest, as Python sees them.
#include "classes/joint_certificate.hpp"
#include "classes/solvers/solve.hpp"
#include "run.hpp"

namespace {

using BoundJointProblem = Held<JointProblem>;

template <class Label>
void make_problem(BoundJointProblem* self, const Rows& rows, const Vector<Label>& y, const Vector<double>& s,
                  double C, const char* loss, const Matrix<double>& cost) {
    const std::size_t n_rows = rows.rows.n_rows, K = cost.shape(0);
    if (y.shape(0) != n_rows || s.shape(0) != n_rows) throw std::invalid_argument("lengths differ");
    if (K == 0 || cost.shape(1) != K) throw std::invalid_argument("the costs are not a square");
    std::vector<std::uint32_t> labels;
    labels.reserve(n_rows);
    for (const Label label : span_of(y)) {
        if (label < Label{0} || static_cast<std::size_t>(label) >= K)
            throw std::invalid_argument("label out of range");
        labels.push_back(static_cast<std::uint32_t>(label));
    }
    for (std::size_t j = 0; j < K; ++j)
        for (std::size_t k = 0; k < K; ++k) {
            const double value = cost.data()[j * K + k];
            if (!(value >= 0 && value <= std::numeric_limits<double>::max()))
                throw std::invalid_argument("a cost is negative or not finite");
            if (j == k && value != 0) throw std::invalid_argument("the right class has a cost");
        }
    new (self) BoundJointProblem{
        {rows.rows, std::move(labels), span_of(s), C, JointLoss::named(loss, {cost.data(), K * K}, K), K},
        {nb::cast(s)}};
}

Start make_start(const JointProblem& problem, const MaybeVector<double>& w, std::uint64_t t,
                 const MaybeVector<double>& q) {
    return {to_vector(w, problem.n_weights()), t, to_vector(q, problem.n_rows() * problem.n_classes)};
}

Solution joint_sdca(const BoundJointProblem& bound, const Run& run, bool shrink, bool blocks,
                    double max_epochs, double tol, std::uint64_t seed, const MaybeVector<RowNumber>& visits,
                    const MaybeVector<double>& start_w, std::uint64_t start_t,
                    const MaybeVector<double>& start_q) {
    const JointProblem& problem = bound.problem;
    const SdcaOptions options{shrink, blocks, tol, max_epochs, seed, to_rows(visits, problem.n_rows())};
    const Start start = make_start(problem, start_w, start_t, start_q);
    return with_context(run, solve_sdca_jointly, problem, options, start);
}

Solution joint_subgradient(const BoundJointProblem& bound, const Run& run, std::uint64_t batch,
                           const char* sampling, bool project, const char* output, std::uint64_t max_steps,
                           double tol, std::uint64_t seed, const MaybeVector<RowNumber>& visits,
                           const MaybeVector<double>& start_w, std::uint64_t start_t) {
    if (std::string_view(output) == "random_stop")
        throw std::invalid_argument("unknown output 'random_stop'");
    const JointProblem& problem = bound.problem;
    const IterateOptions options{batch, project, output_named(output), max_steps, tol};
    const Start start = make_start(problem, start_w, start_t, std::nullopt);
    const auto sampler = sampler_of(problem.n_rows(), sampling, visits, batch, seed);
    return with_context(run, solve_subgradient_jointly, problem, options, *sampler, start);
}

Solution joint_sgd(const BoundJointProblem& bound, const Run& run, double check_factor, double tol,
                   std::uint64_t max_passes, std::uint64_t max_steps, std::uint64_t seed,
                   const MaybeVector<RowNumber>& visits, const MaybeVector<double>& start_w,
                   std::uint64_t start_t, bool last) {
    const JointProblem& problem = bound.problem;
    const SgdOptions options{check_factor, tol, max_passes, max_steps, last};
    const Start start = make_start(problem, start_w, start_t, std::nullopt);
    const auto sampler = sampler_of(problem.n_rows(), "permute", visits, 1, seed);
    return with_context(run, solve_sgd_jointly, problem, options, *sampler, start);
}

Solution joint_newton(const BoundJointProblem& bound, const Run& run, std::uint64_t max_iterations,
                      double tol, const MaybeVector<double>& start_w, std::uint64_t start_t) {
    const JointProblem& problem = bound.problem;
    const Start start = make_start(problem, start_w, start_t, std::nullopt);
    return with_context(run, solve_newton_jointly, problem,
                        NewtonOptions{.tol = tol, .max_iterations = max_iterations, .exact = false}, start);
}

Bounds joint_certify(const BoundJointProblem& bound, const Run& run, const Vector<double>& w,
                     const Vector<double>& q) {
    const Start point = make_start(bound.problem, w, 0, q);
    return with_context(run, certify_jointly, bound.problem, point.w, point.q);
}

std::vector<Solution> shared_sdca(const BoundProblem& bound, const Run& run, std::size_t first,
                                  std::size_t last, bool shrink, bool blocks, double max_epochs,
                                  double shared_epochs, bool keep_points, double tol, std::uint64_t seed,
                                  const MaybeVector<RowNumber>& visits,
                                  const std::optional<nb::callable>& report) {
    const Problem& problem = bound.problem;
    if (first >= last || problem.n_rows() == 0) throw std::invalid_argument("no classes, or no rows");
    for (std::size_t i = 0; i < problem.n_rows(); ++i) {
        const double y = problem.labels[i];
        if (!(y >= 0 && y < UINT32_MAX)) throw std::invalid_argument("label out of range");
    }
    const auto tell = [&](std::size_t k, const Record& record, const WeightsFunction& weights) {
        nb::gil_scoped_acquire gil;
        return report && Check::tell(*report, record, weights, k);
    };
    const SdcaOptions common{shrink, blocks, tol, max_epochs, seed, to_rows(visits, problem.n_rows())};
    const SharedSdcaOptions options{common, first, last, shared_epochs, keep_points};
    return with_context(run, solve_shared_sdca, problem, options, tell);
}

}  // namespace

void bind_classes(nb::module_& m) {
    nb::class_<BoundJointProblem>(m, "JointProblem", "Rows, labels, weights, C, loss and costs.")
        .def("__init__", &make_problem<std::int32_t>, "rows"_a, "y"_a.noconvert(), "s"_a, "C"_a, "loss"_a,
             "cost"_a, nb::keep_alive<1, 2>())
        .def("__init__", &make_problem<std::uint32_t>, "rows"_a, "y"_a.noconvert(), "s"_a, "C"_a, "loss"_a,
             "cost"_a, nb::keep_alive<1, 2>());
    m.def("joint_sdca", &joint_sdca, "problem"_a, "run"_a, nb::kw_only(), "shrink"_a, "blocks"_a,
          "max_epochs"_a, "tol"_a, "seed"_a, "visits"_a.none(), "start_w"_a.none(), "start_t"_a,
          "start_q"_a.none());
    m.def("joint_subgradient", &joint_subgradient, "problem"_a, "run"_a, nb::kw_only(), "batch"_a,
          "sampling"_a, "project"_a, "output"_a, "max_steps"_a, "tol"_a, "seed"_a, "visits"_a.none(),
          "start_w"_a.none(), "start_t"_a);
    m.def("joint_sgd", &joint_sgd, "problem"_a, "run"_a, nb::kw_only(), "check_factor"_a, "tol"_a,
          "max_passes"_a, "max_steps"_a, "seed"_a, "visits"_a.none(), "start_w"_a.none(), "start_t"_a,
          "last"_a = false);
    m.def("joint_newton", &joint_newton, "problem"_a, "run"_a, nb::kw_only(), "max_iterations"_a, "tol"_a,
          "start_w"_a.none(), "start_t"_a);
    m.def("joint_certify", &joint_certify, "problem"_a, "run"_a, "w"_a, "q"_a);
    m.def("shared_sdca", &shared_sdca, "problem"_a, "run"_a, nb::kw_only(), "first"_a, "last"_a, "shrink"_a,
          "blocks"_a, "max_epochs"_a, "shared_epochs"_a, "keep_points"_a, "tol"_a, "seed"_a,
          "visits"_a.none(), "report"_a.none());
}
