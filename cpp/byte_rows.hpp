// Examples whose entries are whole numbers from 0 to 255 times one step, as those of images are.
//
// Their inner products are sums of integers, exact, and processors with VNNI add up four of them to a lane
// where single precision has one: with a byte each, products take a third of the time even where four of
// five entries are zero and the others need not look at those. The instruction multiplies bytes without a
// sign by bytes with one, so that the many examples are kept less 128, and 128 times the sum of the other
// factor is added at the end.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernel.hpp"
#include "points.hpp"
#include "symmetric.hpp"

namespace pegasos {

struct ByteRows {
    static constexpr std::size_t together = 4;  // bytes of a lane
    static constexpr std::size_t most_bytes = std::size_t{128} << 20;
    static constexpr std::size_t most_features = 33'000;  // 255^2 times as many fit into 31 bits

    double step = 0;
    std::size_t stride = 0;
    std::vector<std::int8_t> values;  // less 128; example by example

    bool empty() const { return values.empty(); }
    const std::int8_t* row(std::size_t i) const { return &values[i * stride]; }

    /// None where the processor has no such instruction, entries are something else, or so many of them are
    /// zero that those which are not take less time one by one.
    template <class Real>
    static ByteRows of(const Points<Real>& points);

private:
    static bool supported() {
#if defined(__AVX512BW__)
        return __builtin_cpu_supports("avx512vnni");
#else
        return false;
#endif
    }
    template <class Real>
    static double step_of(const Real* values, std::size_t count);
};

/// The step of which all are multiples up to 255, to the precision of the numbers; 0 where there is none.
template <class Real>
double ByteRows::step_of(const Real* values, std::size_t count) {
    constexpr std::size_t chunk = 4096;
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    Real least = 0, largest = 0, smallest = infinity;  // of all, of those that are not zero
    for (std::size_t first = 0; first < count; first += chunk) {
        const std::size_t last = std::min(first + chunk, count);
#pragma omp simd reduction(min : least, smallest) reduction(max : largest)
        for (std::size_t k = first; k < last; ++k) {
            least = std::min(least, values[k]);
            largest = std::max(largest, values[k]);
            smallest = std::min(smallest, values[k] > 0 ? values[k] : infinity);
        }
        if (least < 0) return 0;
    }
    if (largest == 0) return 0;
    const auto fits = [&](double step) {
        const Real scale = static_cast<Real>(1 / step), rounding = static_cast<Real>(1e-6);
        if (!(largest * scale < Real{255.5}) || !std::isfinite(scale)) return false;
        for (std::size_t first = 0; first < count; first += chunk) {
            const std::size_t last = std::min(first + chunk, count);
            bool all = true;
            for (std::size_t k = first; k < last; ++k) {
                const Real times = values[k] * scale;
                const Real whole = static_cast<Real>(static_cast<std::int32_t>(times + Real{0.5}));
                all &= std::abs(times - whole) <= rounding * whole;
            }
            if (!all) return false;
        }
        return true;
    };
    // The smallest is seldom the step itself, and its rounding counts 255 times.
    const double by_largest = static_cast<double>(largest) / 255;
    if (fits(by_largest)) return by_largest;
    const double levels = std::round(static_cast<double>(largest) / static_cast<double>(smallest));
    if (levels <= 255 && fits(static_cast<double>(largest) / levels))
        return static_cast<double>(largest) / levels;
    return 0;
}

template <class Real>
ByteRows ByteRows::of(const Points<Real>& points) {
    ByteRows rows;
    const std::size_t d = points.n_features, stride = (d + together - 1) / together * together;
    const std::size_t entries =
        points.sparse() ? static_cast<std::size_t>(points.starts[points.n]) : points.n * d;
    if (sizeof(Real) != sizeof(float) || !supported() || d > most_features || points.n * stride > most_bytes)
        return rows;
    if (entries * 8 < points.n * d) return rows;
    const double step = step_of(points.values, entries);
    if (step == 0) return rows;
    rows.step = step;
    rows.stride = stride;
    rows.values.assign(points.n * stride, -128);
    const Real scale = static_cast<Real>(1 / step);
    for (std::size_t i = 0; i < points.n; ++i) {
        std::int8_t* out = &rows.values[i * stride];
        points.for_each(i, [&](std::size_t j, Real value) {
            out[j] = static_cast<std::int8_t>(static_cast<std::int32_t>(value * scale + Real{0.5}) - 128);
        });
    }
    return rows;
}

/// The few examples, as Table in kernel_blocks.hpp has them: `blocks` times as many as `lines` cache lines
/// have lanes.
template <std::size_t lines, std::size_t blocks>
class ByteTable {
public:
    static constexpr std::size_t lane = 64 / sizeof(float), block = lines * lane, width = blocks * block;

    ByteTable(const ByteRows& few, std::size_t n_features)
        : few_(few),
          depth_(few.stride / ByteRows::together),
          values_(few.stride * width),
          sums_(width),
          squares_(width),
          n_features_(n_features) {}

    /// At most `width` of the few.
    void fill(const Points<float>& points, std::span<const RowNumber> rows) {
        std::fill(values_.begin(), values_.end(), std::uint8_t{0});
        for (std::size_t k = 0; k < rows.size(); ++k) {
            const std::int8_t* row = few_.row(rows[k]);
            std::uint8_t* out = &values_[k / block * few_.stride * block + k % block * ByteRows::together];
            std::int32_t sum = 0;
            for (std::size_t j = 0; j < n_features_; ++j) {
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
        for (; i + tall <= last; i += tall) take<tall>(kernel, many, squares, i, use);
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
        alignas(64) float values[width];
        const std::int8_t* x[tall];
        for (std::size_t r = 0; r < tall; ++r) x[r] = many.bytes->row(many.place(i + r));
        for (std::size_t b = 0; b < blocks; ++b) dots<tall>(x, b, sums + b * block);
        const float scale = static_cast<float>(few_.step * many.bytes->step);
        for (std::size_t r = 0; r < tall; ++r) {
#pragma omp simd
            for (std::size_t k = 0; k < width; ++k)
                values[k] = scale * static_cast<float>(sums[r * width + k] + sums_[k]);
            kernel.apply<width>(values, squares[many.place(i + r)], squares_.data());
            use(i + r, static_cast<const float*>(values));
        }
    }

    /// out[r * width + k]: the product of x[r] and the k-th of block b.
    template <std::size_t tall>
    void dots(const std::int8_t* const* x, std::size_t b, std::int32_t* out) const {
        const Line* row = reinterpret_cast<const Line*>(&values_[b * few_.stride * block]);
        Line sums[tall][lines] = {};
        for (std::size_t j = 0; j < depth_; ++j, row += lines) {
            Line across[lines];
            for (std::size_t v = 0; v < lines; ++v) across[v] = row[v];
            for (std::size_t r = 0; r < tall; ++r) {
                const Line four = reinterpret_cast<const Quad*>(x[r])[j] - Line{};
                for (std::size_t v = 0; v < lines; ++v) add_products(sums[r][v], across[v], four);
            }
        }
        for (std::size_t r = 0; r < tall; ++r)
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
    const std::size_t depth_;
    std::vector<std::uint8_t, AtLine<std::uint8_t>> values_;
    std::vector<std::int32_t> sums_;
    std::vector<float, AtLine<float>> squares_;
    const std::size_t n_features_;
};

}  // namespace pegasos
