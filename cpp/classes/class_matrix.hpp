// The weights of all classes: a matrix W with a row per feature (the constant one last) and a column per
// class. The numbers of a feature lie side by side, on cache lines of their own, so that an entry of an
// example meets a few whole lines and the work on them is vector instructions over the classes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"

namespace pegasos {

/// The smallest tol for which weights, and shares of a row's classes, are of floats while a solver works on
/// them.
inline constexpr double coarse = 1e-5;

/// One number per class, as far apart as everywhere here: to a multiple of 16, in whole cache lines.
inline std::size_t padded(std::size_t n_classes) { return (n_classes + 15) / 16 * 16; }

/// A change of one class.
struct ClassChange {
    std::uint32_t k;
    double change;
};

/// The work on a row and the numbers of all classes, compiled in class_matrix.cpp for each kind of rows.
/// W: what a feature has of each class, `stride` apart.
template <class Rows, class Real>
struct ClassLoops {
    /// f = x_i W, of padded length.
    static void scores(const Rows& rows, std::size_t i, const Real* W, std::size_t stride, double* f);
    /// W <- W + x_i' step, of all classes.
    static void add(const Rows& rows, std::size_t i, const Real* step, Real* W, std::size_t stride);
    /// W <- W + c x_i' change, of a few classes.
    static void add(const Rows& rows, std::size_t i, double c, std::span<const ClassChange> changes, Real* W,
                    std::size_t stride);
};

/// The same of the rows [first, last), with f and step of each row padded. Of dense rows several are taken at
/// a time: then W is read and written less often, and sums wait less for each other.
template <class Rows>
struct BlockLoops {
    static void scores(const Rows& rows, std::size_t first, std::size_t last, const double* W,
                       std::size_t n_classes, double* f);
    static void add(const Rows& rows, std::size_t first, std::size_t last, const double* step, double* W,
                    std::size_t n_classes);
    /// With the squares of the entries.
    static void add_squares(const Rows& rows, std::size_t first, std::size_t last, const double* step,
                            double* W, std::size_t n_classes);
};

/// Rows with a single entry of one, in the columns from `offset` on: weights that are of no feature.
struct UnitRows {
    std::size_t offset;

    template <class F>
    void for_each(std::size_t i, F f) const {
        f(offset + i, 1.0);
    }
    double squared_norm(std::size_t) const { return 1; }
};

template <class Real>
class ClassMatrix {
public:
    ClassMatrix(std::size_t n_rows, std::size_t n_classes)
        : n_rows_(n_rows),
          n_classes_(n_classes),
          stride_(padded(n_classes)),
          values_(n_rows * stride_),
          change_(stride_) {}

    std::size_t n_classes() const { return n_classes_; }
    std::size_t stride() const { return stride_; }
    AlignedVector<Real>& values() { return values_; }
    const AlignedVector<Real>& values() const { return values_; }
    Real* row(std::size_t j) { return values_.data() + j * stride_; }
    const Real* row(std::size_t j) const { return values_.data() + j * stride_; }

    /// f = x_i W, of padded length.
    template <class Rows>
    void scores(const Rows& rows, std::size_t i, double* f) const {
        ClassLoops<Rows, Real>::scores(rows, i, values_.data(), stride_, f);
    }

    /// W <- W + c x_i' change, of all classes.
    template <class Rows>
    void add(const Rows& rows, std::size_t i, double c, const double* change) {
        for (std::size_t k = 0; k < stride_; ++k) change_[k] = static_cast<Real>(c * change[k]);
        ClassLoops<Rows, Real>::add(rows, i, change_.data(), values_.data(), stride_);
    }

    /// The same of a few classes.
    template <class Rows>
    void add(const Rows& rows, std::size_t i, double c, std::span<const ClassChange> changes) {
        ClassLoops<Rows, Real>::add(rows, i, c, changes, values_.data(), stride_);
    }

    /// The same by all changes, or by those that are not zero where these are few.
    template <class Rows>
    void add_nonzero(const Rows& rows, std::size_t i, double c, const double* change) {
        few_.clear();
        for (std::size_t k = 0; k < n_classes_; ++k)
            if (change[k] != 0) few_.push_back({static_cast<std::uint32_t>(k), change[k]});
        if (few_.empty()) return;
        if (few_.size() * 8 <= stride_)
            add(rows, i, c, few_);
        else
            add(rows, i, c, change);
    }

    bool is_zero() const {
        return std::all_of(values_.begin(), values_.end(), [](Real x) { return x == 0; });
    }

    /// Without the padding.
    std::vector<double> flat() const {
        std::vector<double> all;
        all.reserve(n_rows_ * n_classes_);
        for (std::size_t j = 0; j < n_rows_; ++j) all.insert(all.end(), row(j), row(j) + n_classes_);
        return all;
    }
    /// Only these columns, in this order, which is a rising one.
    void keep_columns(const std::vector<std::size_t>& columns) {
        const std::size_t before = stride_;
        n_classes_ = columns.size();
        stride_ = padded(n_classes_);
        for (std::size_t j = 0; j < n_rows_; ++j) {
            Real* to = values_.data() + j * stride_;
            for (std::size_t k = 0; k < n_classes_; ++k) to[k] = values_[j * before + columns[k]];
            std::fill(to + n_classes_, to + stride_, Real{0});
        }
        values_.resize(n_rows_ * stride_);
        change_.assign(stride_, Real{0});
    }
    /// The values, padding included.
    const ClassMatrix& from(const std::vector<double>& values) {
        std::copy(values.begin(), values.end(), values_.begin());
        return *this;
    }
    void assign(std::span<const double> flat) {
        for (std::size_t j = 0; j < n_rows_; ++j)
            std::copy_n(flat.begin() + static_cast<std::ptrdiff_t>(j * n_classes_), n_classes_, row(j));
    }

private:
    std::size_t n_rows_, n_classes_, stride_;
    AlignedVector<Real> values_, change_;
    std::vector<ClassChange> few_;
};

}  // namespace pegasos
