// The problems of all classes jointly, as Python sees them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "instances/joint_dispatch.hpp"
#include "run.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace pegasos;

namespace {

using SquareMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Labels, weights, C, loss and costs with the rows they belong to; holds the Python arrays.
struct BoundJointProblem {
    const Rows& rows;  // kept alive by the binding
    std::vector<std::uint32_t> y;
    Vector<double> s;
    double C;
    std::string loss;
    SquareMatrix cost;

    template <class Label>
    BoundJointProblem(const Rows& rows, const Vector<Label>& labels, Vector<double> s, double C,
                      std::string loss, SquareMatrix cost)
        : rows(rows), s(std::move(s)), C(C), loss(std::move(loss)), cost(std::move(cost)) {
        const std::size_t K = n_classes();
        if (labels.shape(0) != n_rows() || this->s.shape(0) != n_rows())
            throw std::invalid_argument("lengths differ");
        if (K == 0 || this->cost.shape(1) != K) throw std::invalid_argument("the costs are not a square");
        if (this->loss != "hinge" && this->loss != "log_loss")
            throw std::invalid_argument("unknown loss '" + this->loss + "'");
        y.reserve(n_rows());
        for (std::size_t i = 0; i < n_rows(); ++i) {
            const Label label = labels.data()[i];
            if (label < Label{0} || static_cast<std::size_t>(label) >= K)
                throw std::invalid_argument("label out of range");
            y.push_back(static_cast<std::uint32_t>(label));
        }
        for (std::size_t j = 0; j < K; ++j)
            for (std::size_t k = 0; k < K; ++k) {
                const double value = this->cost.data()[j * K + k];
                if (!(value >= 0 && value <= std::numeric_limits<double>::max()))
                    throw std::invalid_argument("a cost is negative or not finite");
                if (j == k && value != 0) throw std::invalid_argument("the right class has a cost");
            }
    }

    std::size_t n_rows() const { return rows.rows.n_rows; }
    std::size_t n_classes() const { return cost.shape(0); }
    std::size_t n_weights() const { return rows.rows.dimension() * n_classes(); }
    JointData data() const {
        return {y, {s.data(), n_rows()}, C, loss, {cost.data(), n_classes() * n_classes()}, n_classes()};
    }
};

Start make_start(const BoundJointProblem& problem, const std::optional<Vector<double>>& w, std::uint64_t t,
                 const std::optional<Vector<double>>& q) {
    return {to_vector(w, problem.n_weights()), t, to_vector(q, problem.n_rows() * problem.n_classes())};
}

Solution joint_sdca(const BoundJointProblem& problem, const Run& run, bool shrink, bool blocks,
                    double max_epochs, double tol, std::uint64_t seed,
                    const std::optional<Vector<RowNumber>>& sequence,
                    const std::optional<Vector<double>>& start_w, std::uint64_t start_t,
                    const std::optional<Vector<double>>& start_q) {
    const JointSdcaRequest request{{shrink, blocks, tol, max_epochs, seed},
                                   to_rows(sequence, problem.n_rows()),
                                   make_start(problem, start_w, start_t, start_q)};
    const JointData data = problem.data();
    return solve(problem.rows, run, [&](const auto& rows, Context& context) {
        return solve_joint_sdca(rows, data, request, context);
    });
}

Solution joint_subgradient(const BoundJointProblem& problem, const Run& run, std::uint64_t batch,
                           const std::string& sampling, bool project, const std::string& output,
                           std::uint64_t max_steps, double tol, std::uint64_t seed,
                           const std::optional<Vector<RowNumber>>& sequence,
                           const std::optional<Vector<double>>& start_w, std::uint64_t start_t) {
    if (output == "random_stop") throw std::invalid_argument("unknown output '" + output + "'");
    const JointSubgradientRequest request{{batch, project, output_named(output), max_steps, tol},
                                          sampling,
                                          seed,
                                          to_rows(sequence, problem.n_rows()),
                                          make_start(problem, start_w, start_t, std::nullopt)};
    const JointData data = problem.data();
    return solve(problem.rows, run, [&](const auto& rows, Context& context) {
        return solve_joint_subgradient(rows, data, request, context);
    });
}

Solution joint_sgd(const BoundJointProblem& problem, const Run& run, double patience, double tol,
                   std::uint64_t max_passes, std::uint64_t max_steps, std::uint64_t seed,
                   const std::optional<Vector<RowNumber>>& sequence,
                   const std::optional<Vector<double>>& start_w, std::uint64_t start_t, bool last) {
    const JointSgdRequest request{{patience, tol, max_passes, max_steps, last},
                                  seed,
                                  to_rows(sequence, problem.n_rows()),
                                  make_start(problem, start_w, start_t, std::nullopt)};
    const JointData data = problem.data();
    return solve(problem.rows, run, [&](const auto& rows, Context& context) {
        return solve_joint_sgd(rows, data, request, context);
    });
}

Bounds joint_certify(const BoundJointProblem& problem, const Run& run, const Vector<double>& w,
                     const Vector<double>& q) {
    const Start point = make_start(problem, w, 0, q);
    const JointData data = problem.data();
    return solve(problem.rows, run, [&](const auto& rows, Context& context) {
        return certify_joint(rows, data, point.w, point.q, context);
    });
}

}  // namespace

void bind_joint(nb::module_& m) {
    nb::class_<BoundJointProblem>(m, "JointProblem", "Rows, labels, weights, C, loss and costs.")
        .def(nb::init<const Rows&, const Vector<std::int32_t>&, Vector<double>, double, std::string,
                      SquareMatrix>(),
             "rows"_a, "y"_a.noconvert(), "s"_a, "C"_a, "loss"_a, "cost"_a, nb::keep_alive<1, 2>())
        .def(nb::init<const Rows&, const Vector<std::uint32_t>&, Vector<double>, double, std::string,
                      SquareMatrix>(),
             "rows"_a, "y"_a.noconvert(), "s"_a, "C"_a, "loss"_a, "cost"_a, nb::keep_alive<1, 2>());
    m.def("joint_sdca", &joint_sdca, "problem"_a, "run"_a, nb::kw_only(), "shrink"_a, "blocks"_a,
          "max_epochs"_a, "tol"_a, "seed"_a, "sequence"_a.none(), "start_w"_a.none(), "start_t"_a,
          "start_q"_a.none());
    m.def("joint_subgradient", &joint_subgradient, "problem"_a, "run"_a, nb::kw_only(), "batch"_a,
          "sampling"_a, "project"_a, "output"_a, "max_steps"_a, "tol"_a, "seed"_a, "sequence"_a.none(),
          "start_w"_a.none(), "start_t"_a);
    m.def("joint_sgd", &joint_sgd, "problem"_a, "run"_a, nb::kw_only(), "patience"_a, "tol"_a, "max_passes"_a,
          "max_steps"_a, "seed"_a, "sequence"_a.none(), "start_w"_a.none(), "start_t"_a, "last"_a = false);
    m.def("joint_certify", &joint_certify, "problem"_a, "run"_a, "w"_a, "q"_a);
}
