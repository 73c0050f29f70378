// Three ways to the scores of a row, by what is there to share:
//
// - One score, or few rows: inner products with the weights of each score as they lie.
// - Several scores of many sparse rows: the weights of a feature side by side, `lines` cache lines of them at
//   a time, so that an entry of a row adds to as many sums in registers.
// - Several scores of many dense rows: tiles, which are a vector of rows by up to `widest` scores with their
//   sums in registers. Squares of X are turned over in registers too, so that one feature of all these rows
//   is a vector: however many scores there are, no element of it is idle.
//
// Weights that lie score by score are copied feature by feature for the latter two. Arrays whose rows are not
// contiguous go by tiles, or a block of rows at a time is copied: scores have the same bits in any layout.
#include "linear/scores.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "base/growing_array.hpp"
#include "base/transpose.hpp"
#include "base/turns.hpp"

namespace pegasos {

namespace {

constexpr std::size_t block = 48;  // rows that are scored before their scores are looked at
// Doubles of a vector, of which a line is one; scores of a tile; lines that are summed up at a time.
#if defined(__AVX512F__)
constexpr std::size_t native = 8, widest = 12, most_lines = 4;
#elif defined(__AVX__)
constexpr std::size_t native = 4, widest = 10, most_lines = 8;
#else
constexpr std::size_t native = 2, widest = 10, most_lines = 8;
#endif
static_assert(block % native == 0);

typedef double Native __attribute__((vector_size(8 * native), aligned(8), may_alias));

/// The weights of a feature side by side. Lines may reach past those of a feature, into those of the next
/// ones; the last features, whose lines would reach past all weights, are kept apart, followed by zeros.
class WeightLines {
public:
    WeightLines(const ScoreWeights& given, std::size_t n_jobs)
        : n_features_(given.n_features), n_lines_((given.n_out + native - 1) / native) {
        if (given.n_features == 0) return;
        if (given.out_stride == 1 && given.feature_stride >= static_cast<std::ptrdiff_t>(given.n_out)) {
            values_ = given.values;
            stride_ = given.feature_stride;
        } else {
            const std::size_t n_out = given.n_out;
            copy_.set_capacity(given.n_features * n_out);
            constexpr std::size_t part = 4096;  // features
            in_turns((n_features_ + part - 1) / part, n_jobs, [&](std::size_t, std::size_t number) {
                const std::size_t end = std::min((number + 1) * part, n_features_);
                for (std::size_t j = number * part; j < end; j += native)
                    for (std::size_t k = 0; k < n_out; ++k)
                        for (std::size_t at = j; at < std::min(j + native, end); ++at)
                            copy_.data()[at * n_out + k] = weight(given, at, k);
            });
            values_ = copy_.data();
            stride_ = static_cast<std::ptrdiff_t>(n_out);
        }
        const std::size_t width = n_lines_ * native, past = width - given.n_out;
        const auto stride = static_cast<std::size_t>(stride_);
        const std::size_t n_last = std::min((past + stride - 1) / stride, n_features_);
        first_of_last_ = n_features_ - n_last;
        last_.resize(n_last * width);
        for (std::size_t j = 0; j < n_last; ++j)
            for (std::size_t k = 0; k < given.n_out; ++k)
                last_[j * width + k] = weight(given, first_of_last_ + j, k);
    }

    std::size_t n_lines() const { return n_lines_; }
    const double* values() const { return values_; }
    std::ptrdiff_t stride() const { return stride_; }

    /// Those of feature j from the given line on.
    const double* row(std::size_t j, std::size_t line) const {
        const double* own = j < first_of_last_ ? values_ + static_cast<std::ptrdiff_t>(j) * stride_
                                               : last_.data() + (j - first_of_last_) * n_lines_ * native;
        return own + line * native;
    }

private:
    static double weight(const ScoreWeights& given, std::size_t j, std::size_t k) {
        return given.values[static_cast<std::ptrdiff_t>(j) * given.feature_stride +
                            static_cast<std::ptrdiff_t>(k) * given.out_stride];
    }

    std::size_t n_features_, n_lines_, first_of_last_ = 0;
    const double* values_ = nullptr;
    std::ptrdiff_t stride_ = 0;
    GrowingArray<double> copy_;
    AlignedVector<double> last_;
};

/// The weights of each score as they lie, one feature after the other.
class WeightRows {
public:
    explicit WeightRows(const ScoreWeights& given) : values_(given.values), stride_(given.out_stride) {
        if (given.n_out > 1 || given.feature_stride == 1) return;
        for (std::size_t j = 0; j < given.n_features; ++j)
            copy_.push_back(values_[static_cast<std::ptrdiff_t>(j) * given.feature_stride]);
        values_ = copy_.data();
    }

    const double* of(std::size_t k) const { return values_ + static_cast<std::ptrdiff_t>(k) * stride_; }

private:
    const double* values_;
    std::ptrdiff_t stride_;
    std::vector<double> copy_;
};

/// Calls call(width) with a constant.
template <std::size_t most, class Call>
void with_width(std::size_t width, Call call) {
    if constexpr (most > 1)
        if (width < most) return with_width<most - 1>(width, call);
    call(std::integral_constant<std::size_t, most>{});
}

/// Calls call(width, first) for as few even parts of [0, n) as there can be, with at most `most` as a
/// constant.
template <std::size_t most, class Call>
void in_parts(std::size_t n, Call call) {
    const std::size_t count = (n + most - 1) / most;
    for (std::size_t t = 0; t < count; ++t) {
        const std::size_t first = t * n / count;
        with_width<most>((t + 1) * n / count - first, [&](auto width) { call(width, first); });
    }
}

/// As many entries of X as a vector has doubles.
template <class T>
using Part [[gnu::vector_size(native * sizeof(T))]] = T;

/// Entry j + i of x[r] as element r of square[i], for i < depth; entries of a row are `stride` apart, and
/// there are `room` of them from j on.
template <class T>
[[gnu::noinline]] void gather(const T* const* x, std::size_t j, std::ptrdiff_t stride, std::size_t depth,
                              std::size_t room, Native* square) {
    if (stride == 1 && room >= native) {  // more than is asked for
        Part<T> part[native];
        for (std::size_t r = 0; r < native; ++r) std::memcpy(&part[r], x[r] + j, sizeof part[r]);
        exchange_all<native / 2, native>(part);
        for (std::size_t i = 0; i < depth; ++i) square[i] = __builtin_convertvector(part[i], Native);
        return;
    }
    const bool by_column = x[native - 1] - x[0] == native - 1;
    for (std::size_t i = 0; i < depth; ++i) {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(j + i) * stride;
        Part<T> column;
        if (by_column)
            std::memcpy(&column, x[0] + at, sizeof column);
        else
            for (std::size_t r = 0; r < native; ++r) column[r] = x[r][at];
        square[i] = __builtin_convertvector(column, Native);
    }
}

/// f[k * block + r] = the inner product of row x[r] and weights k, for r < native and k < width. It asks for
/// entries that are `ahead` of those in use.
template <std::size_t width, class T>
void score_tile(const T* const* x, std::ptrdiff_t stride, std::ptrdiff_t ahead, std::size_t d,
                const double* w, std::ptrdiff_t w_stride, double* f) {
    Native sums[width] = {}, square[native];
    const auto add = [&](Native column) __attribute__((always_inline)) {
#pragma GCC unroll 16
        for (std::size_t k = 0; k < width; ++k) sums[k] += column * w[k];
        w += w_stride;
    };
    std::size_t j = 0;
    while (stride == 1 ? (d - j) % native != 0 : j < d) {
        const std::size_t depth = stride == 1 ? (d - j) % native : std::min(native, d - j);
        gather(x, j, stride, depth, d - j, square);
        for (std::size_t i = 0; i < depth; ++i) add(square[i]);
        j += depth;
    }
    for (; j < d; j += native) {
        Part<T> part[native];
#pragma GCC unroll 16
        for (std::size_t r = 0; r < native; ++r) {
            std::memcpy(&part[r], x[r] + j, sizeof part[r]);
            __builtin_prefetch(x[r] + j + ahead);
        }
        exchange_all<native / 2, native>(part);
#pragma GCC unroll 16
        for (std::size_t i = 0; i < native; ++i) add(__builtin_convertvector(part[i], Native));
    }
#pragma GCC unroll 16
    for (std::size_t k = 0; k < width; ++k) *reinterpret_cast<Native*>(f + k * block) = sums[k];
}

/// The scores of a block of rows; the last row once more and again fills a tile.
template <class T>
void score_tiles(const StridedRows<T>& rows, std::size_t first, std::size_t last, const WeightLines& weights,
                 std::size_t n_out, double* f) {
    const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(native) * rows.row_stride;  // the next tile
    for (std::size_t i = first; i < last; i += native, f += native) {
        const T* x[native];
        for (std::size_t r = 0; r < native; ++r)
            x[r] = rows.values + static_cast<std::ptrdiff_t>(std::min(i + r, last - 1)) * rows.row_stride;
        in_parts<widest>(n_out, [&](auto width, std::size_t k) {
            score_tile<width>(x, rows.column_stride, ahead, rows.n_features, weights.values() + k,
                              weights.stride(), f + k * block);
        });
    }
}

template <class T>
double dot(const T* x, const double* w, std::size_t d) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t j = 0; j < d; ++j) sum += static_cast<double>(x[j]) * w[j];
    return sum;
}

/// One score of each row; four short rows at a time, so that their additions need not wait for one another.
/// Long ones are read one after the other, as memory likes it.
template <class T>
void score_dots(const T* const* x, std::size_t count, const double* w, std::size_t d, double* f) {
    constexpr std::size_t longest = 64;
    std::size_t r = 0;
    for (; d <= longest && r + 4 <= count; r += 4) {
        const T *a = x[r], *b = x[r + 1], *c = x[r + 2], *e = x[r + 3];
        double sum_a = 0, sum_b = 0, sum_c = 0, sum_e = 0;
#pragma omp simd reduction(+ : sum_a, sum_b, sum_c, sum_e)
        for (std::size_t j = 0; j < d; ++j) {
            sum_a += static_cast<double>(a[j]) * w[j];
            sum_b += static_cast<double>(b[j]) * w[j];
            sum_c += static_cast<double>(c[j]) * w[j];
            sum_e += static_cast<double>(e[j]) * w[j];
        }
        f[r] = sum_a;
        f[r + 1] = sum_b;
        f[r + 2] = sum_c;
        f[r + 3] = sum_e;
    }
    for (; r < count; ++r) f[r] = dot(x[r], w, d);
}

constexpr std::size_t group = std::min<std::size_t>(native, 4);  // more take longer to fill from w
typedef double Group __attribute__((vector_size(8 * group)));

/// The products of a group of entries with their weights. Values are read as a vector, which leaves the
/// processor's few loads of a cycle to columns and weights.
template <class T, class Index>
[[gnu::always_inline]] inline Group products(const T* values, const Index* columns, const double* w) {
    typedef T Values __attribute__((vector_size(group * sizeof(T))));
    Values x;
    std::memcpy(&x, values, sizeof x);
    Group weights;
#pragma GCC unroll 4
    for (std::size_t at = 0; at < group; ++at) weights[at] = w[columns[at]];
    return __builtin_convertvector(x, Group) * weights;
}

constexpr std::size_t at_once = 8;  // entries

/// The largest column there may be, as a number that negative ones exceed too.
template <class Index>
std::make_unsigned_t<Index> largest_column(std::size_t n_features) {
    using Number = std::make_unsigned_t<Index>;
    return static_cast<Number>(std::min<std::size_t>(n_features - 1, std::numeric_limits<Number>::max()));
}

template <class T>
using AtOnce [[gnu::vector_size(at_once * sizeof(T))]] = T;
template <std::size_t size>
using Words [[gnu::vector_size(size)]] = std::int64_t;

/// Whether so many columns at once are sound.
template <class Index, class Number>
[[gnu::always_inline]] inline bool are_sound(const Index* columns, Number largest) {
    AtOnce<Number> numbers;
    std::memcpy(&numbers, columns, sizeof numbers);
    const auto wrong = reinterpret_cast<Words<sizeof numbers>>(numbers > largest);
    std::int64_t any = 0;
#pragma GCC unroll 8
    for (std::size_t at = 0; at < sizeof numbers / 8; ++at) any |= wrong[at];
    return any == 0;
}

/// One score of each of the rows [first, last), which lie within the arrays; false where a column is not
/// sound: to look at columns when they are used takes less time than to read them twice. The last entries of
/// a row are taken eight at a time too, and what is beyond them is left out of the sums: how many there are
/// cannot be foreseen, and a wrong guess would cost more than these products.
template <class T, class Index>
[[gnu::noinline]] bool score_dots(const CsrRows<T, Index>& rows, std::size_t first, std::size_t last,
                                  const double* w, double* f) {
    typedef std::int64_t Places __attribute__((vector_size(8 * group)));
    constexpr Index step = at_once, ahead = 256;  // what is asked for early, lest it wait for weights
    constexpr std::size_t n_groups = at_once / group;
    const auto largest = largest_column<Index>(rows.n_features);
    const T* values = rows.values;
    const Index *columns = rows.columns, *starts = rows.starts, known = starts[last];
    for (std::size_t i = first; i < last; ++i, ++f) {
        Index k = starts[i];
        const Index end = starts[i + 1];
        Group groups[n_groups] = {};  // several, to hide the latency of additions
        for (; k + step <= end; k += step) {
            __builtin_prefetch(values + k + ahead);
            __builtin_prefetch(columns + k + 2 * ahead);
            if (!are_sound(columns + k, largest)) return false;
#pragma GCC unroll 4
            for (std::size_t g = 0; g < n_groups; ++g)
                groups[g] += products(values + k + g * group, columns + k + g * group, w);
        }
        const auto add_last = [&](const T* x, const Index* j) __attribute__((always_inline)) {
            if (!are_sound(j, largest)) return false;
#pragma GCC unroll 4
            for (std::size_t g = 0; g < n_groups; ++g) {
                Places places;
                for (std::size_t at = 0; at < group; ++at)
                    places[at] = static_cast<std::int64_t>(g * group + at);
                groups[g] +=
                    places < std::int64_t{end - k} ? products(x + g * group, j + g * group, w) : Group{};
            }
            return true;
        };
        if (known - k >= step) {
            if (!add_last(values + k, columns + k)) return false;
        } else {  // nothing is known of what comes next
            T last_values[at_once] = {};
            Index last_columns[at_once] = {};
            std::copy(values + k, values + end, last_values);
            std::copy(columns + k, columns + end, last_columns);
            if (!add_last(last_values, last_columns)) return false;
        }
        for (std::size_t g = 1; g < n_groups; ++g) groups[0] += groups[g];
        double sum = 0;
        for (std::size_t at = 0; at < group; ++at) sum += groups[0][at];
        *f = sum;
    }
    return true;
}

/// The scores of one row: entry(k) of [begin, end) is a feature and its value.
template <class Entry>
void score_row(std::size_t begin, std::size_t end, const WeightLines& weights, std::size_t n_out, double* f,
               Entry entry) {
    in_parts<most_lines>(weights.n_lines(), [&](auto constant, std::size_t line) {
        constexpr std::size_t count = constant;
        Native sums[count] = {};
        for (std::size_t k = begin; k < end; ++k) {
            const auto [j, x] = entry(k);
            const double* w = weights.row(j, line);
#pragma GCC unroll 16
            for (std::size_t v = 0; v < count; ++v) sums[v] += x * reinterpret_cast<const Native*>(w)[v];
        }
        for (std::size_t k = line * native; k < std::min((line + count) * native, n_out); ++k)
            f[k * block] = sums[k / native - line][k % native];
    });
}

/// Hands on the scores of rows [first, last), those of each output `block` apart; the first row of them that
/// has one which is not finite.
std::int64_t hand_on(double* f, std::size_t first, std::size_t last, const ScoreWeights& weights,
                     const ScoresTo& to) {
    typedef std::int64_t Numbers __attribute__((vector_size(8 * native), aligned(8), may_alias));
    const std::size_t n_out = weights.n_out;
    const bool alone = n_out == 1;  // number 1 if it is more than 0
    double nothing[block];          // NaN where one is not finite
    Native any = {};
    for (std::size_t i = first; i < last; i += native, f += native) {
        const std::size_t count = std::min(native, last - i);
        const auto put = [count](const auto& from, auto* out) {
            if (count == native)
                std::memcpy(out, &from, sizeof from);
            else
                for (std::size_t r = 0; r < count; ++r) out[r] = from[r];
        };
        Native zeros = {}, largest = Native{} - (alone ? 0 : std::numeric_limits<double>::infinity());
        Numbers numbers = {};
        for (std::size_t k = 0; k < n_out; ++k) {
            Native& own = *reinterpret_cast<Native*>(f + k * block);
            zeros += own * 0;
            own += weights.intercepts[k];
            const auto more = own > largest;  // so that the first of the largest wins
            largest = more ? own : largest;
            numbers = more ? Numbers{} + static_cast<std::int64_t>(k + alone) : numbers;
        }
        any += zeros;
        put(zeros, nothing + (i - first));
        if (to.numbers)
            put(numbers, to.numbers + i);
        else if (alone)
            put(*reinterpret_cast<Native*>(f), to.scores + i);
        else
            for (std::size_t r = 0; r < count; ++r)
                for (std::size_t k = 0; k < n_out; ++k) to.scores[(i + r) * n_out + k] = f[k * block + r];
    }
    double sum = 0;
    for (std::size_t r = 0; r < native; ++r) sum += any[r];
    if (sum == 0) return no_row;
    double* const end = nothing + (last - first);
    const double* const wrong = std::find_if_not(&nothing[0], end, [](double x) { return x == 0; });
    return wrong == end ? no_row : static_cast<std::int64_t>(first + (wrong - nothing));
}

/// Calls score(first, last, f) for all rows, a block at a time, which returns false where these are broken,
/// and hands on what it finds; each thread has a buffer of its own.
template <class Score>
std::int64_t score_all(std::size_t n_rows, std::size_t work, const ScoreWeights& weights, const ScoresTo& to,
                       std::size_t n_jobs, Monitor& monitor, Score score) {
    const std::size_t turn = block * std::max<std::size_t>(1, 15'000 / (block * (work + 1)));
    std::vector<std::int64_t> wrong(n_jobs, no_row);
    // Made here: where a thread that has just begun asks for memory, it gets a heap of its own first.
    std::vector<AlignedVector<double>> buffers(n_jobs, AlignedVector<double>(block * weights.n_out));
    std::atomic<bool> broken = false;
    in_turns((n_rows + turn - 1) / turn, n_jobs, [&](std::size_t k, std::size_t number) {
        double* f = buffers[k].data();
        const std::size_t end = std::min((number + 1) * turn, n_rows);
        for (std::size_t first = number * turn; first < end && !broken; first += block) {
            const std::size_t last = std::min(first + block, end);
            if (!score(first, last, f)) {
                broken = true;
                return;
            }
            const std::int64_t found = hand_on(f, first, last, weights, to);
            if (wrong[k] == no_row) wrong[k] = found;
            if (k == 0) monitor.worked((last - first) * work);
        }
    });
    if (broken) return broken_rows;
    std::int64_t first = no_row;
    for (const std::int64_t row : wrong)
        if (row != no_row && (first == no_row || row < first)) first = row;
    return first;
}

/// No weights, where those that lie score by score are used.
constexpr ScoreWeights none{nullptr, 0, 0, 1, 1, nullptr};

}  // namespace

template <class T>
std::int64_t compute_scores(const StridedRows<T>& rows, const ScoreWeights& weights, const ScoresTo& to,
                            std::size_t n_jobs, Monitor& monitor) {
    const std::size_t n = rows.n_rows, d = rows.n_features, n_out = weights.n_out;
    const bool contiguous = rows.column_stride == 1 || d <= 1, many = n >= block;
    const bool tiles = many && n_out > 1;
    // By row and feature: other than in a tile sums have the same order only in rows that are contiguous.
    const auto copied = [&](std::size_t first, std::size_t last) {
        std::vector<T> copy(contiguous || tiles ? 0 : (last - first) * d);
        for (std::size_t j = 0; !copy.empty() && j < d; ++j)
            for (std::size_t i = first; i < last; ++i)
                copy[(i - first) * d + j] = rows.values[static_cast<std::ptrdiff_t>(i) * rows.row_stride +
                                                        static_cast<std::ptrdiff_t>(j) * rows.column_stride];
        return copy;
    };
    const bool side_by_side = tiles || (n_out > 1 && weights.feature_stride != 1);
    const WeightRows by_score(weights);
    const WeightLines lines(side_by_side ? weights : none, n_jobs);
    return score_all(n, d * (1 + n_out / 8), weights, to, n_jobs, monitor,
                     [&](std::size_t first, std::size_t last, double* f) {
                         const std::size_t count = last - first;
                         if (tiles) {
                             score_tiles(rows, first, last, lines, n_out, f);
                             return true;
                         }
                         const std::vector<T> copy = copied(first, last);
                         const T* x[block];
                         for (std::size_t r = 0; r < count; ++r)
                             x[r] = copy.empty() ? rows.values + static_cast<std::ptrdiff_t>(first + r) *
                                                                     rows.row_stride
                                                 : copy.data() + r * d;
                         if (side_by_side) {
                             for (std::size_t r = 0; r < count; ++r)
                                 score_row(0, d, lines, n_out, f + r, [own = x[r]](std::size_t j) {
                                     return std::pair<std::size_t, double>(j, own[j]);
                                 });
                             return true;
                         }
                         for (std::size_t k = 0; k < n_out; ++k)
                             score_dots(x, count, by_score.of(k), d, f + k * block);
                         return true;
                     });
}

template <class T, class Index>
std::int64_t compute_scores(const CsrRows<T, Index>& rows, std::size_t n_stored, const ScoreWeights& weights,
                            const ScoresTo& to, std::size_t n_jobs, Monitor& monitor) {
    const std::size_t n_out = weights.n_out, n = rows.n_rows;
    const auto within = [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            if (rows.starts[i] < 0 || rows.starts[i] > rows.starts[i + 1]) return false;
        const Index end = rows.starts[last];
        return static_cast<std::size_t>(end) <= n_stored &&
               (rows.n_features > 0 || rows.starts[first] == end);
    };
    const auto columns_are_sound = [&](std::size_t first, std::size_t last) {
        const Index *columns = rows.columns + rows.starts[first], *end = rows.columns + rows.starts[last];
        const auto largest = largest_column<Index>(rows.n_features);
        Index misfits = 0;
#pragma omp simd reduction(+ : misfits)
        for (const Index* column = columns; column < end; ++column)
            misfits += static_cast<std::make_unsigned_t<Index>>(*column) > largest;
        return misfits == 0;
    };
    const bool side_by_side = n_out > 1 && (weights.out_stride == 1 || weights.feature_stride != 1 ||
                                            n_stored > 2 * weights.n_features);
    const WeightRows by_score(weights);
    const WeightLines lines(side_by_side ? weights : none, n_jobs);
    const std::size_t work = (1 + n_stored / std::max<std::size_t>(n, 1)) * (1 + n_out / 8);
    return score_all(
        n, work, weights, to, n_jobs, monitor, [&](std::size_t first, std::size_t last, double* f) {
            if (!within(first, last)) return false;
            if (!side_by_side) {
                constexpr double nothing = 0;  // stands for the weights where there are none
                for (std::size_t k = 0; k < n_out; ++k)
                    if (!score_dots(rows, first, last, weights.n_features ? by_score.of(k) : &nothing,
                                    f + k * block))
                        return false;
                return true;
            }
            if (!columns_are_sound(first, last)) return false;
            for (std::size_t i = first; i < last; ++i)
                score_row(static_cast<std::size_t>(rows.starts[i]),
                          static_cast<std::size_t>(rows.starts[i + 1]), lines, n_out, f + (i - first),
                          [&](std::size_t k) {
                              return std::pair<std::size_t, double>(rows.columns[k], rows.values[k]);
                          });
            return true;
        });
}

template std::int64_t compute_scores(const StridedRows<float>&, const ScoreWeights&, const ScoresTo&,
                                     std::size_t, Monitor&);
template std::int64_t compute_scores(const StridedRows<double>&, const ScoreWeights&, const ScoresTo&,
                                     std::size_t, Monitor&);
template std::int64_t compute_scores(const CsrRows<float, std::int32_t>&, std::size_t, const ScoreWeights&,
                                     const ScoresTo&, std::size_t, Monitor&);
template std::int64_t compute_scores(const CsrRows<double, std::int32_t>&, std::size_t, const ScoreWeights&,
                                     const ScoresTo&, std::size_t, Monitor&);
template std::int64_t compute_scores(const CsrRows<float, std::int64_t>&, std::size_t, const ScoreWeights&,
                                     const ScoresTo&, std::size_t, Monitor&);
template std::int64_t compute_scores(const CsrRows<double, std::int64_t>&, std::size_t, const ScoreWeights&,
                                     const ScoresTo&, std::size_t, Monitor&);

}  // namespace pegasos
