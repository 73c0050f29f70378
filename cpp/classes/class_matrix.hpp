// The weights of all classes: a matrix W with a row per feature (the constant one last) and a column per
// class. The numbers of a feature lie side by side, on cache lines of their own, so that an entry of an
// example meets a few whole lines and the work on them is vector instructions over the classes.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "rows/rows.hpp"

namespace pegasos {

/// Memory on cache lines of its own; a lot of it on huge pages, as most entries of a sparse row would
/// otherwise miss the table of pages.
template <class T>
struct Aligned {
    using value_type = T;

    T* allocate(std::size_t count) {
        void* memory = ::operator new(count * sizeof(T), alignment(count));
#ifdef MADV_HUGEPAGE
        if (count * sizeof(T) >= huge) madvise(memory, count * sizeof(T), MADV_HUGEPAGE);
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) { ::operator delete(memory, alignment(count)); }
    bool operator==(const Aligned&) const { return true; }

private:
    static constexpr std::size_t huge = std::size_t{1} << 21;
    static std::align_val_t alignment(std::size_t count) {
        return std::align_val_t{count * sizeof(T) >= huge ? huge : 64};
    }
};

template <class T>
using AlignedVector = std::vector<T, Aligned<T>>;

/// One number per class, as far apart as everywhere here: to a multiple of 16, in whole cache lines.
inline std::size_t padded(std::size_t n_classes) { return (n_classes + 15) / 16 * 16; }

/// A change of one class.
struct ClassChange {
    std::uint32_t k;
    double change;
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
        for (std::size_t at = 0; at < stride_; at += block) {
            const std::size_t left = std::min(stride_ - at, block);
            if (left == 64)
                score_block<64>(rows, i, at, f);
            else if (left == 48)
                score_block<48>(rows, i, at, f);
            else if (left == 32)
                score_block<32>(rows, i, at, f);
            else
                score_block<16>(rows, i, at, f);
        }
    }

    /// W <- W + c x_i' change, of all classes.
    template <class Rows>
    void add(const Rows& rows, std::size_t i, double c, const double* change) {
        Real* d = change_.data();
        for (std::size_t k = 0; k < stride_; ++k) d[k] = static_cast<Real>(c * change[k]);
        rows.for_each(i, [&](std::size_t j, double x) {
            Lanes* w = reinterpret_cast<Lanes*>(row(j));
            const Lanes* step = reinterpret_cast<const Lanes*>(d);
            const Real value = static_cast<Real>(x);
            for (std::size_t v = 0; v < stride_ / width; ++v) w[v] += value * step[v];
        });
    }

    /// The same of a few classes.
    template <class Rows>
    void add(const Rows& rows, std::size_t i, double c, std::span<const ClassChange> changes) {
        rows.for_each(i, [&](std::size_t j, double x) {
            Real* w = row(j);
            const double cx = c * x;
            for (const auto& [k, change] : changes) w[k] += static_cast<Real>(cx * change);
        });
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
    void assign(std::span<const double> flat) {
        for (std::size_t j = 0; j < n_rows_; ++j)
            std::copy_n(flat.begin() + static_cast<std::ptrdiff_t>(j * n_classes_), n_classes_, row(j));
    }

private:
    typedef Real Lanes __attribute__((vector_size(64), may_alias));
    static constexpr std::size_t width = 64 / sizeof(Real), block = 64;

    /// The scores of some classes, in registers until the row ends.
    template <std::size_t Classes, class Rows>
    void score_block(const Rows& rows, std::size_t i, std::size_t at, double* f) const {
        constexpr std::size_t Count = Classes / width;
        Lanes sum[Count] = {};
        const Real* start = values_.data() + at;
        rows.for_each(i, [&](std::size_t j, double x) __attribute__((always_inline)) {
            const Lanes* w = reinterpret_cast<const Lanes*>(start + j * stride_);
            const Real value = static_cast<Real>(x);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < Count; ++v) sum[v] += value * w[v];
        });
        alignas(64) Real out[Classes];
        std::memcpy(out, sum, sizeof(out));
        for (std::size_t k = 0; k < Classes; ++k) f[at + k] = static_cast<double>(out[k]);
    }

    std::size_t n_rows_, n_classes_, stride_;
    AlignedVector<Real> values_, change_;
    std::vector<ClassChange> few_;
};

}  // namespace pegasos
