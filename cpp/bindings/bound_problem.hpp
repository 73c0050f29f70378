// A problem as Python holds it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "run.hpp"

namespace pegasos {

/// Labels, weights, C and loss with the rows they belong to; holds the Python arrays.
struct BoundProblem {
    const Rows& rows;  // kept alive by the binding
    Vector<double> y, s;
    double C;
    std::string loss;
    bool free_intercept;
    double epsilon;

    BoundProblem(const Rows& rows, Vector<double> y, Vector<double> s, double C, std::string loss,
                 bool free_intercept, double epsilon)
        : rows(rows),
          y(std::move(y)),
          s(std::move(s)),
          C(C),
          loss(std::move(loss)),
          free_intercept(free_intercept),
          epsilon(epsilon) {
        if (this->y.shape(0) != n_rows() || this->s.shape(0) != n_rows())
            throw std::invalid_argument("lengths differ");
    }

    std::size_t n_rows() const { return rows.rows.n_rows; }
    std::size_t dimension() const { return rows.rows.dimension(); }
    ProblemData data() const {
        return {{y.data(), n_rows()}, {s.data(), n_rows()}, C, loss, epsilon, free_intercept};
    }
};

}  // namespace pegasos
