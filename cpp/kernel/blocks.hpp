// Blocks of the kernel matrix: some examples against many.
//
// The few, `width` at a time, are laid out feature by feature in a table, so that a row of it is a few
// vectors: the values of one feature for all of them. An example of the many then adds to `width` inner
// products at a time, kept in registers, for each of its entries one row of the table. Dense examples do so
// `tall` at a time, which makes a row of the table serve that often; of sparse ones only the entries that are
// there cost anything. Of entries that are bytes, four at a time are multiplied (byte_rows.hpp). The kernel
// is taken while the sums are still in the first-level cache.
//
// Long sums are made of partial ones, over `chain` features or a span of columns, so that their rounding
// grows with the length of these. The order of the additions is that of the columns, whichever example is in
// the table and however wide it is: a value has the same bits in whatever block it is computed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/transpose.hpp"
#include "kernel/byte_rows.hpp"
#include "kernel/kernel.hpp"
#include "kernel/points.hpp"

namespace pegasos {

#if defined(__AVX512F__)
inline constexpr std::size_t dense_lines = 4, dense_tall = 6;
#elif defined(__AVX__)
inline constexpr std::size_t dense_lines = 1, dense_tall = 6;
#else
inline constexpr std::size_t dense_lines = 1, dense_tall = 2;
#endif

/// Products that are added up one after the other, where there are more than twice as many.
inline constexpr std::size_t chain = 64;

/// The few examples. `lines` is the number of cache lines that a row of the table takes.
template <class Real, std::size_t lines>
class Table {
public:
    static constexpr std::size_t lane = 64 / sizeof(Real), width = lines * lane;
    typedef Real Line __attribute__((vector_size(64), aligned(64), may_alias));

    explicit Table(std::size_t n_features) : values_(n_features * width), squares_(width) {}

    /// At most `width` of the points.
    void fill(const Points<Real>& points, std::span<const RowNumber> rows) {
        clear();
        points_ = &points;
        rows_.assign(rows.begin(), rows.end());
        for (std::size_t k = 0; k < rows.size(); ++k) {
            points.for_each(rows[k], [&](std::size_t j, Real value) { values_[j * width + k] += value; });
            squares_[k] = static_cast<Real>(points.squared_norm(rows[k]));
        }
    }

    /// Inner products of `tall` consecutive dense points with all of the table, or squared distances: tall *
    /// width numbers.
    template <std::size_t tall, bool differences>
    void sums_dense(const Points<Real>& many, std::size_t first, Real* out) const {
        const std::size_t d = many.n_features, part = d > 2 * chain ? chain : d;
        const Real* x[tall];
        for (std::size_t r = 0; r < tall; ++r) x[r] = many.values + many.place(first + r) * d;
        sum_features<tall, differences, true>(x, 0, part, out);
        for (std::size_t j = part; j < d; j += part)
            sum_features<tall, differences, false>(x, j, std::min(j + part, d), out);
    }

    void dots_sparse(const Points<Real>& many, std::size_t i, Real* out) const {
        const std::size_t at = many.place(i);
        std::int64_t k = many.starts[at];
        const std::int64_t end = many.starts[at + 1];
        Line* total = reinterpret_cast<Line*>(out);
        if (many.span == 0) return add_products(many, k, end, total);
        for (std::size_t v = 0; v < lines; ++v) total[v] = Line{};
        while (k < end) {
            const std::size_t part = static_cast<std::size_t>(many.columns[k]) / many.span;
            const auto last = static_cast<std::int64_t>((part + 1) * many.span);
            std::int64_t stop = k + 1;
            while (stop < end && many.columns[stop] < last) ++stop;
            Line sums[lines];
            add_products(many, k, stop, sums);
            for (std::size_t v = 0; v < lines; ++v) total[v] += sums[v];
            k = stop;
        }
    }

    /// use(i, values): the kernel of point i of [first, last) with each of the table, `width` numbers. The
    /// squared norms are those of all points, by their places.
    template <class Use>
    void against(const Kernel& kernel, const Points<Real>& many, const Real* squares, std::size_t first,
                 std::size_t last, Use use) const {
        alignas(64) Real values[dense_tall * width];
        const auto in_groups = [&](auto sums) {
            for (std::size_t i = first, tall; i < last; i += tall) {
                tall = i + dense_tall <= last ? dense_tall : 1;
                sums(i, tall);
                Real own[dense_tall];
                for (std::size_t r = 0; r < tall; ++r) own[r] = squares[many.place(i + r)];
                kernel.apply<width>(values, tall, own, squares_.data());
                for (std::size_t r = 0; r < tall; ++r)
                    use(i + r, static_cast<const Real*>(values + r * width));
            }
        };
        const auto dense = [&]<bool differences>() {
            in_groups([&](std::size_t i, std::size_t tall) {
                if (tall == 1)
                    sums_dense<1, differences>(many, i, values);
                else
                    sums_dense<dense_tall, differences>(many, i, values);
            });
        };
        if (many.sparse())
            in_groups([&](std::size_t i, std::size_t tall) {
                for (std::size_t r = 0; r < tall; ++r) dots_sparse(many, i + r, values + r * width);
            });
        else if (kernel.differences)
            dense.template operator()<true>();
        else
            dense.template operator()<false>();
    }

private:
    /// What features [j, end) have part in; the first of such sums, or added to it.
    template <std::size_t tall, bool differences, bool first>
    void sum_features(const Real* const (&x)[tall], std::size_t j, std::size_t end, Real* out) const {
        Line sums[tall][lines] = {};
        const Line* row = reinterpret_cast<const Line*>(values_.data()) + j * lines;
        for (; j < end; ++j, row += lines) {
            Line across[lines];
            for (std::size_t v = 0; v < lines; ++v) across[v] = row[v];
            for (std::size_t r = 0; r < tall; ++r)
                for (std::size_t v = 0; v < lines; ++v) {
                    if constexpr (differences) {
                        const Line difference = x[r][j] - across[v];
                        sums[r][v] += difference * difference;
                    } else {
                        sums[r][v] += x[r][j] * across[v];
                    }
                }
        }
        Line* total = reinterpret_cast<Line*>(out);
        for (std::size_t r = 0; r < tall; ++r)
            for (std::size_t v = 0; v < lines; ++v) {
                if constexpr (first)
                    total[r * lines + v] = sums[r][v];
                else
                    total[r * lines + v] += sums[r][v];
            }
    }

    /// The products of entries [k, end) with all of the table.
    void add_products(const Points<Real>& many, std::int64_t k, std::int64_t end, Line* out) const {
        Line sums[lines] = {};
        const Line* table = reinterpret_cast<const Line*>(values_.data());
        for (; k < end; ++k) {
            const Line* row = table + static_cast<std::size_t>(many.columns[k]) * lines;
            const Real x = many.values[k];
            for (std::size_t v = 0; v < lines; ++v) sums[v] += x * row[v];
        }
        for (std::size_t v = 0; v < lines; ++v) out[v] = sums[v];
    }

    void clear() {
        for (std::size_t k = 0; k < rows_.size(); ++k)
            points_->for_each(rows_[k], [&](std::size_t j, Real) { values_[j * width + k] = 0; });
    }

    AlignedVector<Real> values_, squares_;
    const Points<Real>* points_ = nullptr;
    std::vector<RowNumber> rows_;
};

/// Points that a thread takes at a time: whole groups of `tall`, whole squares.
inline constexpr std::size_t stretch = 96;

/// f(table): a table for `count` of the few, as wide as these fill and as leaves it in the second-level
/// cache.
template <class Real, class F>
void with_table(const Points<Real>& few, const Points<Real>& many, std::size_t count, F f) {
    const std::size_t d = few.n_features;
    const bool one_line = count <= 64 / sizeof(Real);
    const auto call = [&](auto table) { f(table); };
    if constexpr (sizeof(Real) == sizeof(float)) {
        if (few.bytes && many.bytes) {
            if (one_line) return call(ByteTable<1, 1>(*few.bytes));
            if (count <= 64) return call(ByteTable<4, 1>(*few.bytes));
            return call(ByteTable<4, 2>(*few.bytes));
        }
    }
    if (!one_line && !many.sparse()) return call(Table<Real, dense_lines>(d));
    if (!one_line && d * 256 <= 640 * 1024) return call(Table<Real, 4>(d));
    call(Table<Real, 1>(d));
}

}  // namespace pegasos
