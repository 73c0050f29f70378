// Rows of whatever storage. What holds them is compiled once; a loop over rows is compiled for each storage,
// behind one `visit` for a whole pass or a block of visits, never one for each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "rows/rows.hpp"

namespace pegasos {

class AnyRows {
public:
    std::size_t n_rows, n_features;
    double bias;
    bool rescaled;  // columns of X were divided by their sizes, as will be the weights

    template <class Rows>
    AnyRows(const Rows& rows)
        : n_rows(rows.n_rows),
          n_features(rows.n_features),
          bias(rows.bias),
          rescaled(rows.rescaled),
          rows_(rows) {}

    /// Entries of a weight vector: a constant feature comes last.
    std::size_t dimension() const { return n_features + 1; }

    /// f(rows), with the rows of their storage.
    template <class F>
    decltype(auto) visit(F&& f) const {
        return std::visit(std::forward<F>(f), rows_);
    }

    /// The squared norms of all rows, once they are known.
    void set_squares(const double* squares) {
        std::visit([&](auto& rows) { rows.squares = squares; }, rows_);
    }

    /// The same rows without the constant feature.
    AnyRows without_constant() const {
        AnyRows copy = *this;
        copy.bias = 0;
        std::visit([](auto& rows) { rows.bias = 0; }, copy.rows_);
        return copy;
    }

private:
    std::variant<DenseRows<float>, DenseRows<double>, CsrRows<float, std::int32_t>,
                 CsrRows<double, std::int32_t>, CsrRows<float, std::int64_t>, CsrRows<double, std::int64_t>>
        rows_;
};

}  // namespace pegasos
