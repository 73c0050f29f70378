// Dense symmetric matrices: M += B' B for blocks B of rows, Cholesky's factor, solves. Only the upper
// triangle is used, row by row.
//
// One kernel does the work of both. A block of rows is packed into panels of `panel` columns, each panel row
// by row; a tile of M is then a sum of outer products of `tall` numbers of one panel with a row of another,
// kept in registers: 24 of AVX-512's 32, 12 of the 16 of AVX. A panel of `block_rows` rows stays in the
// first-level cache while all panels to its left pass by.
//
// The factor is U, U' U = M, of the matrix scaled to a unit diagonal: columns of very different size then do
// no harm, and what is left of a pivot tells how many digits are left. Where none are, the column depends on
// the others up to rounding; its pivot becomes huge, so that its unknown comes out as zero (S. Wright,
// Modified Cholesky factorizations in interior-point algorithms, 1999). Refinement against M itself follows
// each solve.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/aligned.hpp"
#include "base/monitor.hpp"
#include "base/threads.hpp"

namespace pegasos {

#if defined(__AVX512F__)
inline constexpr std::size_t lanes = 8, vectors = 3, tall = 8;
#elif defined(__AVX__)
inline constexpr std::size_t lanes = 4, vectors = 3, tall = 4;
#else
inline constexpr std::size_t lanes = 2, vectors = 2, tall = 4;
#endif
inline constexpr std::size_t panel = lanes * vectors, block_rows = 128;
static_assert(panel % tall == 0);

using Doubles = AlignedVector<double>;  // no vector crosses a cache line

/// A tile of `tall` rows and `panel` columns: out += sign * left' right, over `depth` rows of two panels.
inline void add_tile(const double* left, const double* right, std::size_t depth, double sign, double* out,
                     std::size_t stride) {
    typedef double Lanes __attribute__((vector_size(lanes * sizeof(double)), aligned(8), may_alias));
    Lanes sums[tall][vectors] = {};
    for (std::size_t k = 0; k < depth; ++k, left += panel, right += panel) {
        Lanes across[vectors];
        for (std::size_t v = 0; v < vectors; ++v)
            across[v] = *reinterpret_cast<const Lanes*>(right + v * lanes);
        for (std::size_t r = 0; r < tall; ++r)
            for (std::size_t v = 0; v < vectors; ++v) sums[r][v] += left[r] * across[v];
    }
    for (std::size_t r = 0; r < tall; ++r)
        for (std::size_t v = 0; v < vectors; ++v)
            *reinterpret_cast<Lanes*>(out + r * stride + v * lanes) += sign * sums[r][v];
}

/// A block of at most `block_rows` rows in panels.
class PackedRows {
public:
    explicit PackedRows(std::size_t n_columns)
        : panels_((n_columns + panel - 1) / panel),
          values_(panels_ * panel * block_rows),
          row_(panels_ * panel) {}

    void clear() { size_ = 0; }

    /// write(row) fills in the next row: n_columns entries.
    template <class Write>
    void push(Write write) {
        write(row_.data());
        push_from(row_.data(), 0);
    }
    /// The next row is given, from its panel `first` on.
    void push_from(const double* row, std::size_t first) {
        for (std::size_t j = first; j < panels_; ++j)
            std::memcpy(&values_[(j * block_rows + size_) * panel], row + j * panel, panel * sizeof(double));
        ++size_;
    }
    const double* panel_at(std::size_t j) const { return &values_[j * block_rows * panel]; }

    /// The panels [first, ...) left of and at panel j: M += sign * B' B for that column of tiles.
    void add_column(std::size_t first, std::size_t j, double sign, double* M, std::size_t stride) const {
        for (std::size_t i = first; i <= j; ++i)
            for (std::size_t r = 0; r < panel; r += tall)
                add_tile(panel_at(i) + r, panel_at(j), size_, sign, M + (i * panel + r) * stride + j * panel,
                         stride);
    }
    void add_to(double* M, std::size_t stride) const {
        for (std::size_t j = 0; j < panels_; ++j) add_column(0, j, 1, M, stride);
    }

private:
    std::size_t panels_, size_ = 0;
    Doubles values_, row_;
};

/// Solves M x = b for a positive definite M, again and again with a new M of the same size.
class SymmetricSolver {
public:
    SymmetricSolver(std::size_t dimension, Team& team, Monitor& monitor)
        : d_(dimension),
          stride_((dimension + panel - 1) / panel * panel),
          team_(team),
          monitor_(monitor),
          M_(stride_ * stride_),
          factor_(stride_ * stride_),
          scale_(stride_),
          residual_(stride_),
          block_(stride_) {}

    std::size_t stride() const { return stride_; }
    /// The matrix: to be filled in, upper triangle, before `factor`.
    double* matrix() { return M_.data(); }

    void factor() {
        for (std::size_t j = 0; j < stride_; ++j) {
            const double diagonal = M_[j * stride_ + j];
            scale_[j] = j < d_ && diagonal > 0 ? 1 / std::sqrt(diagonal) : 0;
        }
        team_.run_ranges(stride_, [&](std::size_t, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                double* row = &M_[i * stride_];
                for (std::size_t j = i; j < stride_; ++j) row[j] *= scale_[i] * scale_[j];
                row[i] = 1;
                std::memcpy(&factor_[i * stride_ + i], row + i, (stride_ - i) * sizeof(double));
            }
        });
        for (std::size_t first = 0; first < stride_; first += together) {
            const std::size_t last = std::min(first + together, stride_);
            factor_rows(first, last);
            if (last == stride_) break;
            solve_rows(first, last);
            take_off(first, last);
            monitor_.look();
        }
    }

    /// x = M^-1 b.
    void solve(const std::vector<double>& b, std::vector<double>& x) {
        Doubles right(stride_), unknown(stride_);
        double size = 0;
        for (std::size_t j = 0; j < d_; ++j) {
            right[j] = scale_[j] * b[j];
            size = std::max(size, std::abs(right[j]));
        }
        double before = size;
        for (int times = 0; times < 4; ++times) {
            residual(right, unknown);
            double largest = 0;
            for (std::size_t j = 0; j < d_; ++j) largest = std::max(largest, std::abs(residual_[j]));
            if (times > 0 && (!(largest < before / 2) || largest <= 1e-15 * size)) break;
            before = largest;
            substitute();
            for (std::size_t j = 0; j < d_; ++j) unknown[j] += residual_[j];
        }
        for (std::size_t j = 0; j < d_; ++j) x[j] = scale_[j] * unknown[j];
    }

private:
    static constexpr std::size_t together = 2 * panel;  // rows of the factor computed at a time
    static constexpr double no_digits = 1e-14, huge = 1e64;
    static_assert(together <= block_rows);

    double* row(std::size_t i) { return &factor_[i * stride_]; }

    void factor_rows(std::size_t first, std::size_t last) {
        for (std::size_t j = first; j < last; ++j) {
            double* top = row(j);
            const double pivot = top[j] > no_digits ? std::sqrt(top[j]) : huge;
            top[j] = pivot;
            for (std::size_t k = j + 1; k < last; ++k) top[k] /= pivot;
            for (std::size_t i = j + 1; i < last; ++i)
                for (std::size_t k = i; k < last; ++k) row(i)[k] -= top[i] * top[k];
        }
    }

    /// The rest of these rows: U_kk' times it is what is there now.
    void solve_rows(std::size_t first, std::size_t last) {
        team_.run_ranges((stride_ - last) / lanes, [&](std::size_t, std::size_t from, std::size_t to) {
            constexpr std::size_t chunk = 256;
            for (std::size_t left = last + from * lanes; left < last + to * lanes; left += chunk) {
                const std::size_t right = std::min(left + chunk, last + to * lanes);
                for (std::size_t j = first; j < last; ++j) {
                    double* top = row(j);
                    const double inverse = 1 / top[j];
                    for (std::size_t k = left; k < right; ++k) top[k] *= inverse;
                    for (std::size_t i = j + 1; i < last; ++i) {
                        double* below = row(i);
                        const double c = top[i];
                        for (std::size_t k = left; k < right; ++k) below[k] -= c * top[k];
                    }
                }
            }
        });
    }

    /// What these rows of the factor account for in the rows below.
    void take_off(std::size_t first, std::size_t last) {
        const std::size_t next = last / panel, n_panels = stride_ / panel;
        block_.clear();
        for (std::size_t i = first; i < last; ++i) block_.push_from(row(i), next);
        // Columns of tiles dealt out in turn: they grow longer to the right.
        team_.run([&](std::size_t k) {
            for (std::size_t j = next + k; j < n_panels; j += team_.size())
                block_.add_column(next, j, -1, factor_.data(), stride_);
        });
    }

    /// residual = right - M unknown.
    void residual(const Doubles& right, const Doubles& unknown) {
        residual_ = right;
        for (std::size_t i = 0; i < d_; ++i) {
            const double* m = &M_[i * stride_];
            const double x = unknown[i];
            double sum = m[i] * x;
#pragma omp simd reduction(+ : sum)
            for (std::size_t j = i + 1; j < d_; ++j) {
                sum += m[j] * unknown[j];
                residual_[j] -= m[j] * x;
            }
            residual_[i] -= sum;
        }
    }

    /// residual <- (U' U)^-1 residual.
    void substitute() {
        for (std::size_t i = 0; i < d_; ++i) {
            const double* u = row(i);
            const double x = residual_[i] /= u[i];
#pragma omp simd
            for (std::size_t j = i + 1; j < d_; ++j) residual_[j] -= x * u[j];
        }
        for (std::size_t i = d_; i-- > 0;) {
            const double* u = row(i);
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (std::size_t j = i + 1; j < d_; ++j) sum += u[j] * residual_[j];
            residual_[i] = (residual_[i] - sum) / u[i];
        }
    }

    const std::size_t d_, stride_;
    Team& team_;
    Monitor& monitor_;
    Doubles M_, factor_, scale_, residual_;
    PackedRows block_;
};

}  // namespace pegasos
