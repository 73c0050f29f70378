// Examples whose entries are whole numbers from 0 to 255 times one step, as those of images are.
//
// Their inner products are sums of integers, exact, and processors with VNNI add up four of them to a lane
// where single precision has one: with a byte each, products take a third of the time even where four of
// five entries are zero and the others need not look at those. The instruction multiplies bytes without a
// sign by bytes with one, so that the many examples are kept less 128, and 128 times the sum of the other
// factor is added at the end.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/growing_array.hpp"
#include "base/threads.hpp"
#include "kernel/kernel.hpp"
#include "kernel/points.hpp"

namespace pegasos {

struct ByteRows {
    static constexpr std::size_t together = 4;  // bytes of a lane
    static constexpr std::size_t most_bytes = std::size_t{128} << 20;
    static constexpr std::size_t most_features = 33'000;  // 255^2 times as many fit into 31 bits
    static constexpr double tolerance = 3e-7;             // relative, by which entries may be off the step

    double step = 0;
    std::size_t stride = 0;
    GrowingArray<std::int8_t> values;  // less 128; example by example

    bool empty() const { return step == 0; }
    const std::int8_t* row(std::size_t i) const { return values.data() + i * stride; }

    /// None where the processor has no such instruction, entries are something else, or so many of them are
    /// zero that those which are not take less time one by one.
    template <class Real>
    static ByteRows of(const Points<Real>& points, Team& team);

private:
    static bool supported() {
#if defined(__AVX512BW__)
        return __builtin_cpu_supports("avx512vnni");
#else
        return false;
#endif
    }
    /// The step of which all are multiples up to 255, to the precision of the numbers; 0 where there is none.
    template <class Real>
    static double step_of(std::span<const Real> values, Team& team);
    template <class Real>
    static Real level(Real value, Real scale) {
        return static_cast<Real>(static_cast<std::int32_t>(value * scale + Real{0.5}));
    }
    /// task(values) of chunks of all the values, in all threads, until it is false of one; whether it was
    /// not.
    template <class Real, class Task>
    static bool of_all(std::span<const Real> values, Team& team, Task task);
};

template <class Real, class Task>
bool ByteRows::of_all(std::span<const Real> values, Team& team, Task task) {
    constexpr std::size_t chunk = 4096;
    std::atomic<bool> all = true;
    team.run_ranges(values.size(), [&](std::size_t thread, std::size_t first, std::size_t last) {
        for (std::size_t k = first; k < last && all.load(std::memory_order_relaxed); k += chunk)
            if (!task(thread, values.subspan(k, std::min(chunk, last - k)))) all = false;
    });
    return all;
}

template <class Real>
double ByteRows::step_of(std::span<const Real> values, Team& team) {
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    struct alignas(64) Range {
        Real smallest = infinity, largest = 0;  // of those that are not zero
    };
    std::vector<Range> ranges(team.size());
    if (!of_all(values, team, [&](std::size_t thread, std::span<const Real> some) {
            Real least = 0, smallest = infinity, largest = 0;
#pragma omp simd reduction(min : least, smallest) reduction(max : largest)
            for (std::size_t k = 0; k < some.size(); ++k) {
                least = std::min(least, some[k]);
                largest = std::max(largest, some[k]);
                smallest = std::min(smallest, some[k] > 0 ? some[k] : infinity);
            }
            Range& range = ranges[thread];
            range = {std::min(range.smallest, smallest), std::max(range.largest, largest)};
            return least == 0;
        }))
        return 0;
    Range range;
    for (const Range& one : ranges)
        range = {std::min(range.smallest, one.smallest), std::max(range.largest, one.largest)};
    if (range.largest == 0) return 0;
    const double largest = static_cast<double>(range.largest);
    const auto fits = [&](double step) {
        const Real scale = static_cast<Real>(1 / step), rounding = static_cast<Real>(tolerance);
        if (!(range.largest * scale < Real{255.5}) || !std::isfinite(scale)) return false;
        return of_all(values, team, [&](std::size_t, std::span<const Real> some) {
            bool all = true;
            for (const Real value : some) {
                const Real whole = level(value, scale);
                all &= std::abs(value * scale - whole) <= rounding * whole;
            }
            return all;
        });
    };
    // The smallest is seldom the step itself, and its rounding counts 255 times.
    if (fits(largest / 255)) return largest / 255;
    const double levels = std::round(largest / static_cast<double>(range.smallest));
    return levels < 255 && fits(largest / levels) ? largest / levels : 0;
}

template <class Real>
ByteRows ByteRows::of(const Points<Real>& points, Team& team) {
    ByteRows rows;
    const std::size_t n = points.n, d = points.n_features, stride = (d + together - 1) / together * together;
    const std::size_t entries = points.sparse() ? static_cast<std::size_t>(points.starts[n]) : n * d;
    if (sizeof(Real) != sizeof(float) || !supported() || d > most_features || n * stride > most_bytes ||
        entries * 8 < n * d)
        return rows;
    rows.step = step_of(std::span(points.values, entries), team);
    if (rows.empty()) return rows;
    rows.stride = stride;
    rows.values.set_capacity(n * stride);
    const Real scale = static_cast<Real>(1 / rows.step);
    team.run_ranges(n, [&](std::size_t, std::size_t first, std::size_t last) {
        std::fill(rows.values.data() + first * stride, rows.values.data() + last * stride, std::int8_t{-128});
        for (std::size_t i = first; i < last; ++i) {
            std::int8_t* out = rows.values.data() + i * stride;
            points.for_each(i, [&](std::size_t j, Real value) {
                out[j] = static_cast<std::int8_t>(static_cast<std::int32_t>(level(value, scale)) - 128);
            });
        }
    });
    return rows;
}

/// The few examples, as Table in blocks.hpp has them: `blocks` times as many as `lines` cache lines
/// have lanes.
template <std::size_t lines, std::size_t blocks>
class ByteTable {
public:
    static constexpr std::size_t lane = 64 / sizeof(float), block = lines * lane, width = blocks * block;

    explicit ByteTable(const ByteRows& few)
        : few_(few), values_(few.stride * width), sums_(width), squares_(width) {}

    /// At most `width` of the few.
    void fill(const Points<float>& points, std::span<const RowNumber> rows) {
        std::fill(values_.begin(), values_.end(), std::uint8_t{0});
        for (std::size_t k = 0; k < rows.size(); ++k) {
            const std::int8_t* row = few_.row(rows[k]);
            std::uint8_t* out = &values_[k / block * few_.stride * block + k % block * ByteRows::together];
            std::int32_t sum = 0;
            for (std::size_t j = 0; j < few_.stride; ++j) {
                const int value = row[j] + 128;
                out[j / ByteRows::together * block * ByteRows::together + j % ByteRows::together] =
                    static_cast<std::uint8_t>(value);
                sum += value;
            }
            sums_[k] = 128 * sum;
            squares_[k] = static_cast<float>(points.squared_norm(rows[k]));
        }
    }

    /// use(i, values): the kernel of point i of [first, last) with each of the table, `width` numbers.
    template <class Use>
    void against(const Kernel& kernel, const Points<float>& many, const float* squares, std::size_t first,
                 std::size_t last, Use use) const {
        std::size_t i = first;
        for (; i + tall <= last; i += tall) {
            // The next ones meanwhile: where examples are named they are anywhere.
            for (std::size_t r = i + tall; r < std::min(i + 2 * tall, last); ++r) {
                const std::int8_t* x = many.bytes->row(many.place(r));
                for (std::size_t j = 0; j < few_.stride; j += 64) __builtin_prefetch(x + j);
            }
            take<tall>(kernel, many, squares, i, use);
        }
        for (; i < last; ++i) take<1>(kernel, many, squares, i, use);
    }

private:
    static constexpr std::size_t tall = 6;
    typedef std::int32_t Line __attribute__((vector_size(64), aligned(64), may_alias));
    typedef std::int32_t Quad __attribute__((aligned(1), may_alias));

    template <std::size_t tall, class Use>
    void take(const Kernel& kernel, const Points<float>& many, const float* squares, std::size_t i,
              Use use) const {
        alignas(64) std::int32_t sums[tall * width];
        alignas(64) float values[tall * width];
        const std::int8_t* x[tall];
        for (std::size_t r = 0; r < tall; ++r) x[r] = many.bytes->row(many.place(i + r));
        for (std::size_t b = 0; b < blocks; ++b) dots<tall>(x, b, sums + b * block);
        const float scale = static_cast<float>(few_.step * many.bytes->step);
        float own[tall];
        for (std::size_t r = 0; r < tall; ++r) {
            own[r] = squares[many.place(i + r)];
#pragma omp simd
            for (std::size_t k = 0; k < width; ++k)
                values[r * width + k] = scale * static_cast<float>(sums[r * width + k] + sums_[k]);
        }
        kernel.apply<width>(values, tall, own, squares_.data());
        for (std::size_t r = 0; r < tall; ++r) use(i + r, static_cast<const float*>(values + r * width));
    }

    /// out[r * width + k]: the product of x[r] and the k-th of block b. Inlined, or without its loops
    /// unrolled, it keeps its sums in memory, which takes three times as long.
    template <std::size_t tall>
    [[gnu::noinline]] void dots(const std::int8_t* const* x, std::size_t b, std::int32_t* out) const {
        const Line* row = reinterpret_cast<const Line*>(&values_[b * few_.stride * block]);
        Line sums[tall][lines] = {};
        for (std::size_t j = 0; j < few_.stride / ByteRows::together; ++j, row += lines) {
            Line across[lines];
#pragma GCC unroll 4
            for (std::size_t v = 0; v < lines; ++v) across[v] = row[v];
#pragma GCC unroll 6
            for (std::size_t r = 0; r < tall; ++r) {
                const Line four = reinterpret_cast<const Quad*>(x[r])[j] - Line{};
#pragma GCC unroll 4
                for (std::size_t v = 0; v < lines; ++v) add_products(sums[r][v], across[v], four);
            }
        }
#pragma GCC unroll 6
        for (std::size_t r = 0; r < tall; ++r)
#pragma GCC unroll 4
            for (std::size_t v = 0; v < lines; ++v) reinterpret_cast<Line*>(out + r * width)[v] = sums[r][v];
    }

    /// Of each lane: the sum of four products. Not the compiler's intrinsic, with which gcc 12 keeps the sums
    /// in memory.
    static void add_products([[maybe_unused]] Line& sums, [[maybe_unused]] const Line& a,
                             [[maybe_unused]] const Line& x) {
#if defined(__AVX512BW__)
        asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(x));
#endif
    }

    const ByteRows& few_;
    AlignedVector<std::uint8_t> values_;
    std::vector<std::int32_t> sums_;
    AlignedVector<float> squares_;
};

}  // namespace pegasos
