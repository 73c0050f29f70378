// The matrix of the methods that solve equations of the size of w: R + sum_i D_i x_i x_i', with R the
// identity, less its last entry where the intercept is free, and D_i >= 0. Threads add to copies of their
// own, a block of rows at a time; dense rows are packed first (base/symmetric.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/solution.hpp"
#include "base/symmetric.hpp"
#include "linear/problem.hpp"

namespace pegasos {

class NormalMatrix {
public:
    NormalMatrix(const Problem& problem, Context& context)
        : problem_(problem),
          team_(context.team),
          d_(problem.dimension()),
          solver_(d_, context.team, context.monitor),
          // One copy for each thread that adds to it, in 4 GB at most.
          copies_(std::clamp<std::size_t>(static_cast<std::size_t>(5e8) / size(), 1, team_.size())) {
        double entries = 0;
        problem.rows.visit([&](const auto& rows) {
            for (std::size_t i = 0; i < rows.n_rows; ++i) entries += static_cast<double>(rows.entries(i));
        });
        packs_ = entries > sparse_below * static_cast<double>(problem.n_rows()) * static_cast<double>(d_ - 1);
        for (std::size_t k = 0; k < copies_.size(); ++k) {
            if (k > 0) copies_[k].matrix.resize(size());
            if (packs_) copies_[k].block.emplace(d_);
        }
    }

    /// The threads that may add to it.
    std::size_t adders() const { return copies_.size(); }

    void clear() {
        team_.run([&](std::size_t k) {
            if (k < adders()) std::fill_n(matrix_of(k), size(), 0.0);
        });
    }

    /// Thread k adds D(i) times row number(i), for i in [first, last), at most `block_rows` of them.
    template <class Number, class Weight>
    void add(std::size_t k, std::size_t first, std::size_t last, Number number, Weight D) {
        double* const M = matrix_of(k);
        problem_.rows.visit([&](const auto& rows) {
            if (!packs_) {
                for (std::size_t i = first; i < last; ++i)
                    if (D(i) != 0) rows.add_outer(number(i), D(i), M, solver_.stride());
                return;
            }
            PackedRows& block = *copies_[k].block;
            block.clear();
            for (std::size_t i = first; i < last; ++i)
                if (D(i) != 0) block.push([&](double* out) { rows.spread(number(i), std::sqrt(D(i)), out); });
            block.add_to(M, solver_.stride());
        });
    }

    /// Makes one matrix of the copies, and adds R.
    void join() {
        const std::size_t stride = solver_.stride();
        double* M = solver_.matrix();
        if (adders() > 1)
            team_.run([&](std::size_t k) {
                for (std::size_t i = k; i < d_; i += team_.size())  // in turn: rows grow shorter
                    for (std::size_t copy = 1; copy < adders(); ++copy) {
                        const double* other = &copies_[copy].matrix[i * stride];
                        for (std::size_t j = i; j < d_; ++j) M[i * stride + j] += other[j];
                    }
            });
        for (std::size_t j = 0; j < problem_.n_penalized(); ++j) M[j * stride + j] += 1;
    }

    SymmetricSolver& solver() { return solver_; }

private:
    static constexpr double sparse_below = 0.25;  // the density from which packing is faster

    struct Copy {
        Doubles matrix;  // the first thread adds to the solver's
        std::optional<PackedRows> block;
    };

    std::size_t size() const { return solver_.stride() * solver_.stride(); }
    double* matrix_of(std::size_t k) { return k == 0 ? solver_.matrix() : copies_[k].matrix.data(); }

    const Problem& problem_;
    Team& team_;
    const std::size_t d_;
    SymmetricSolver solver_;
    std::vector<Copy> copies_;
    bool packs_ = false;
};

}  // namespace pegasos
