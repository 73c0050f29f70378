// clang-format off
// All classes in one problem, and its two losses.
//
//   minimise P(W) = 1/2 ||W||^2 + C sum_i s_i l(f_i, y_i),    f_i = x_i W: K scores, y_i in 0, ..., K - 1
//   maximise D(p) = C sum_i s_i g(p_i) - 1/2 ||U||^2,         U = sum_i C s_i x_i' (e_{y_i} - p_i)
//
// over p_i in the simplex: p_i >= 0, sum_k p_ik = 1. D <= optimum <= P, and at W = U
//
//   P - D = sum_i C s_i [ l(f_i, y_i) + f_i,y_i - <f_i, p_i> - g(p_i) ]
//
// is a sum of terms >= 0 (Fenchel and Young). With row i alone free, D is C s_i times
//
//   g(p) + <f, p> - a/2 ||p - p_i||^2,    a = C s_i ||x_i||^2,
//
// whose maximiser over the simplex is the step of dual coordinate ascent.
//
//   hinge      l = max_k (cost_yk + f_k) - f_y   g = <cost_y, p>      cost_yk >= 0, cost_yy = 0: what calling y k costs.
//                                                                     (Crammer and Singer: 1 unless k = y)
//   log_loss   l = log sum_k exp(f_k) - f_y      g = -sum_k p_k log p_k
//
// Both have g(e_y) = 0 and g concave, so p -> e_y + c (p - e_y) multiplies U by c and g at least by c.
//
// For bounds that allow for rounding: values are right to 32 + 2 K units (2^-53) relatively. excess: at least what the
// loss, `value` at f, grows by where each score is off by up to e, e above 4 units of the largest score; the rounding
// of differences of scores is in it. bound_of_dual: g of the point whose largest p is 1 less the others, which sum to
// `rest`, and an allowance for rounding that is not yet taken off.
// clang-format on
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/rounding.hpp"
#include "classes/class_matrix.hpp"
#include "rows/any_rows.hpp"

namespace pegasos {

/// What dual coordinate ascent keeps of a row besides p.
struct JointRow {
    static constexpr std::uint32_t none = UINT32_MAX;

    double bound;   // C s_i
    double square;  // ||x_i||^2
    double dual;    // g(p_i)
    std::uint32_t label;
    std::uint32_t vertex;  // the k with p = e_k, or none
};

/// What a visit found at the row's old p.
struct JointVisit {
    double gap;            // its term of the duality gap, over C s_i
    double violation = 0;  // how far its gradient is from that of a maximum
    double calm = 0;       // above 0: the row may rest for `rest(calm, usual violation)` epochs
    bool changed = false;  // p has moved,
    bool all = false;      // in all classes, by `change()`, or in those of `changes()`
};

/// The steps of dual coordinate ascent, with the arrays they are computed in. Scores and p have padded
/// length; p is zero in the padding, scores are anything.
class JointAscent {
public:
    virtual ~JointAscent() = default;

    /// The best p of a row at the scores f, where a = C s_i ||x_i||^2.
    virtual JointVisit visit(const double* f, JointRow& row, double* p, double a) = 0;
    /// What the last visit changed p by.
    virtual std::span<const ClassChange> changes() const { return {}; }
    virtual const double* change() const { return nullptr; }
    /// For how many epochs a row may rest.
    virtual double rest(double calm, double usual) const = 0;
};

/// The loss at given scores. All threads share it.
class JointLoss {
public:
    virtual ~JointLoss() = default;

    /// The loss of that name; the costs, n_classes x n_classes, are of those that have some.
    static std::shared_ptr<const JointLoss> named(const std::string& name, std::span<const double> cost,
                                                  std::size_t n_classes);

    /// At zero scores: the best that is known before any step.
    virtual double at_zero(std::uint32_t y) const = 0;
    /// The loss, and p with l'(f) = p - e_y.
    virtual double slope(const double* f, std::uint32_t y, double* p) const = 0;
    virtual double excess(const double* f, std::uint32_t y, double e, double value) const = 0;
    virtual double dual(const double* p, std::uint32_t y) const = 0;
    virtual Bound bound_of_dual(const double* p, std::uint32_t y, std::size_t largest, double rest) const = 0;
    /// Whether g is linear in p.
    virtual bool is_dual_linear() const = 0;
    virtual std::unique_ptr<JointAscent> make_ascent() const = 0;
};

struct JointProblem {
    const AnyRows& rows;
    std::vector<std::uint32_t> labels;
    std::span<const double> weights;  // s
    double C;
    std::shared_ptr<const JointLoss> loss;
    std::size_t n_classes;
    double total_weight = sum(weights);  // of s

    std::size_t n_rows() const { return rows.n_rows; }
    std::size_t dimension() const { return rows.dimension(); }
    std::size_t n_weights() const { return dimension() * n_classes; }
    double lambda() const { return 1 / (C * total_weight); }
};

}  // namespace pegasos
