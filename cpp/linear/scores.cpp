// Three ways to the scores of a row, by what is there to share:
//
// - One score, or few rows: inner products with the weights of each score as they lie.
// - Several scores of many rows: the weights of a feature side by side, `lines` cache lines of them at a
//   time, so that an entry of a row adds to as many sums in registers. Dense rows do so `tall` at a time.
//   Weights that lie score by score are copied in this order first.
//
// Arrays whose rows are not contiguous, and single precision where several scores need its entries, are
// copied to a small buffer of doubles.
#include "linear/scores.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/aligned.hpp"
#include "base/growing_array.hpp"
#include "base/turns.hpp"

namespace pegasos {

namespace {

constexpr std::size_t lane = 8;    // doubles of a line
constexpr std::size_t block = 48;  // rows that are scored before their scores are looked at
#if defined(__AVX512F__)
constexpr std::size_t tall = 6, dense_lines = 2;
#elif defined(__AVX__)
constexpr std::size_t tall = 6, dense_lines = 1;
#else
constexpr std::size_t tall = 2, dense_lines = 1;
#endif

typedef double Line __attribute__((vector_size(64), aligned(8), may_alias));

/// The weights of a feature side by side. Lines may reach past those of a feature, into those of the next
/// one; the last feature is kept apart, followed by zeros.
class WeightLines {
public:
    WeightLines(const ScoreWeights& given, std::size_t n_jobs)
        : n_features_(given.n_features), n_lines_((given.n_out + lane - 1) / lane), last_(n_lines_ * lane) {
        if (given.n_features == 0) return;
        if (given.out_stride == 1) {
            values_ = given.values;
            stride_ = given.feature_stride;
        } else {
            const std::size_t n_out = given.n_out;
            copy_.set_capacity(given.n_features * n_out);
            constexpr std::size_t part = 4096;  // features
            in_turns((n_features_ + part - 1) / part, n_jobs, [&](std::size_t, std::size_t number) {
                const std::size_t end = std::min((number + 1) * part, n_features_);
                for (std::size_t j = number * part; j < end; j += lane)
                    for (std::size_t k = 0; k < n_out; ++k)
                        for (std::size_t at = j; at < std::min(j + lane, end); ++at)
                            copy_.data()[at * n_out + k] = weight(given, at, k);
            });
            values_ = copy_.data();
            stride_ = static_cast<std::ptrdiff_t>(n_out);
        }
        for (std::size_t k = 0; k < given.n_out; ++k) last_[k] = weight(given, n_features_ - 1, k);
    }

    std::size_t n_lines() const { return n_lines_; }

    /// Those of feature j from the given line on.
    const double* row(std::size_t j, std::size_t line) const {
        const double* own = values_ + static_cast<std::ptrdiff_t>(j) * stride_;
        return (j + 1 == n_features_ ? last_.data() : own) + line * lane;
    }

private:
    static double weight(const ScoreWeights& given, std::size_t j, std::size_t k) {
        return given.values[static_cast<std::ptrdiff_t>(j) * given.feature_stride +
                            static_cast<std::ptrdiff_t>(k) * given.out_stride];
    }

    std::size_t n_features_, n_lines_;
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

/// Calls part(lines, first line), with at most `most` lines as a constant, until all had their turn.
template <std::size_t most, class Part>
void in_parts(std::size_t n_lines, Part part) {
    std::size_t at = 0;
    for (; at + most <= n_lines; at += most) part(std::integral_constant<std::size_t, most>{}, at);
    if constexpr (most > 1) {
        in_parts<most / 2>(n_lines - at, [&](auto lines, std::size_t line) { part(lines, at + line); });
    }
}

template <std::size_t height, std::size_t lines>
void score_dense(const double* const* x, const WeightLines& weights, std::size_t line, std::size_t d,
                 double* f, std::size_t width) {
    Line sums[height][lines] = {};
    const auto add = [&](std::size_t j, const double* w) __attribute__((always_inline)) {
        Line across[lines];
        for (std::size_t v = 0; v < lines; ++v) across[v] = reinterpret_cast<const Line*>(w)[v];
        for (std::size_t r = 0; r < height; ++r)
            for (std::size_t v = 0; v < lines; ++v) sums[r][v] += x[r][j] * across[v];
    };
    for (std::size_t j = 0; j < d; ++j) add(j, weights.row(j, line));
    for (std::size_t r = 0; r < height; ++r)
        std::memcpy(f + r * width + line * lane, sums[r], sizeof sums[r]);
}

/// The scores of rows of doubles, `width` apart.
void score_lines(const double* const* x, std::size_t count, const WeightLines& weights, std::size_t d,
                 double* f, std::size_t width) {
    in_parts<dense_lines>(weights.n_lines(), [&](auto lines, std::size_t line) {
        std::size_t r = 0;
        for (; r + tall <= count; r += tall)
            score_dense<tall, lines>(x + r, weights, line, d, f + r * width, width);
        for (; r < count; ++r) score_dense<1, lines>(x + r, weights, line, d, f + r * width, width);
    });
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
void score_dots(const T* const* x, std::size_t count, const double* w, std::size_t d, double* f,
                std::size_t width) {
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
        f[r * width] = sum_a;
        f[(r + 1) * width] = sum_b;
        f[(r + 2) * width] = sum_c;
        f[(r + 3) * width] = sum_e;
    }
    for (; r < count; ++r) f[r * width] = dot(x[r], w, d);
}

/// One score of each of the rows [first, last).
template <class T, class Index>
void score_dots(const CsrRows<T, Index>& rows, std::size_t first, std::size_t last, const double* w,
                double* f, std::size_t width) {
    const T* values = rows.values;
    const Index *columns = rows.columns, *starts = rows.starts;
    for (std::size_t i = first; i < last; ++i, f += width) {
        Index k = starts[i];
        const Index end = starts[i + 1];
        double sum[4] = {};  // to hide the latency of additions
        for (; k + 3 < end; k += 4)
            for (Index at = 0; at < 4; ++at)
                sum[at] += static_cast<double>(values[k + at]) * w[columns[k + at]];
        for (; k < end; ++k) sum[k & 1] += static_cast<double>(values[k]) * w[columns[k]];
        *f = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

/// The first of the largest; without a branch that nobody foresees.
std::int64_t number_of_largest(const double* scores, std::size_t count) {
    double largest = scores[0];
    std::size_t number = 0;
    for (std::size_t k = 1; k < count; ++k) {
        const bool more = scores[k] > largest;
        largest = more ? scores[k] : largest;
        number = more ? k : number;
    }
    return static_cast<std::int64_t>(number);
}

/// Hands on the scores of rows [first, last), `width` apart, of one score 1; the first row of them that has
/// one which is not finite.
std::int64_t hand_on(double* f, std::size_t width, std::size_t first, std::size_t last,
                     const ScoreWeights& weights, const ScoresTo& to) {
    std::int64_t wrong = no_row;
    const std::size_t n_out = weights.n_out;
    if (n_out == 1) {
        const double b = weights.intercepts[0];
        const std::size_t count = last - first;
        double nothing = 0;
#pragma omp simd reduction(+ : nothing)
        for (std::size_t r = 0; r < count; ++r) nothing += f[r] * 0;  // NaN where one is not finite
        if (nothing != 0)
            wrong = static_cast<std::int64_t>(
                first + (std::find_if_not(f, f + count, [](double x) { return x * 0 == 0; }) - f));
        if (to.scores)
            std::transform(f, f + count, to.scores + first, [b](double x) { return x + b; });
        else
            std::transform(f, f + count, to.numbers + first, [b](double x) { return x + b > 0; });
        return wrong;
    }
    for (std::size_t i = last; i-- > first;) {
        double *own = f + (i - first) * width, nothing = 0;
        for (std::size_t k = 0; k < n_out; ++k) {
            nothing += own[k] * 0;  // NaN where it is not finite
            own[k] += weights.intercepts[k];
        }
        if (nothing != 0) wrong = static_cast<std::int64_t>(i);
        if (to.scores)
            std::copy_n(own, n_out, to.scores + i * n_out);
        else
            to.numbers[i] = number_of_largest(own, n_out);
    }
    return wrong;
}

/// Calls score(first, last, f, copies) for all rows, a block at a time, which returns false where these are
/// broken, and hands on what it finds; each thread has buffers of its own, `n_copied` doubles.
template <class Score>
std::int64_t score_all(std::size_t n_rows, std::size_t width, std::size_t work, std::size_t n_copied,
                       const ScoreWeights& weights, const ScoresTo& to, std::size_t n_jobs, Monitor& monitor,
                       Score score) {
    const std::size_t turn = block * std::max<std::size_t>(1, 50'000 / (block * (work + 1)));
    std::vector<std::int64_t> wrong(n_jobs, no_row);
    std::vector<AlignedVector<double>> buffers(n_jobs), copies(n_jobs);
    std::atomic<bool> broken = false;
    in_turns((n_rows + turn - 1) / turn, n_jobs, [&](std::size_t k, std::size_t number) {
        buffers[k].resize(std::min(block, n_rows) * width);
        copies[k].resize(n_copied);
        double* f = buffers[k].data();
        const std::size_t end = std::min((number + 1) * turn, n_rows);
        for (std::size_t first = number * turn; first < end && !broken; first += block) {
            const std::size_t last = std::min(first + block, end);
            if (!score(first, last, f, copies[k].data())) {
                broken = true;
                return;
            }
            const std::int64_t found = hand_on(f, width, first, last, weights, to);
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

/// Whether several scores are worth weights side by side, of X with so many entries.
bool worth_lines(const ScoreWeights& weights, std::size_t entries) {
    if (weights.n_out == 1) return false;
    return weights.out_stride == 1 || weights.feature_stride != 1 || entries > 2 * weights.n_features;
}

}  // namespace

template <class T>
std::int64_t compute_scores(const StridedRows<T>& rows, const ScoreWeights& weights, const ScoresTo& to,
                            std::size_t n_jobs, Monitor& monitor) {
    const std::size_t d = rows.n_features, n_out = weights.n_out;
    const bool side_by_side = worth_lines(weights, rows.n_rows * d);
    const bool contiguous = rows.column_stride == 1 || d <= 1;
    const bool copied = !contiguous || (side_by_side && !std::is_same_v<T, double>);
    // Few enough rows of the buffer that it stays in the cache, and enough for whole lines of columns.
    const std::size_t at_a_time =
        copied ? std::clamp<std::size_t>(16'384 / (d + 1) / tall * tall, 12, block) : block;
    const WeightRows by_score(weights);
    const ScoreWeights none{nullptr, 0, 0, 1, 1, nullptr};
    const WeightLines lines(side_by_side ? weights : none, n_jobs);
    const std::size_t width = side_by_side ? lines.n_lines() * lane : n_out;
    const std::size_t work = d * (1 + n_out / lane);
    return score_all(
        rows.n_rows, width, work, copied ? at_a_time * d : 0, weights, to, n_jobs, monitor,
        [&](std::size_t begin, std::size_t end, double* f, double* copies) {
            for (std::size_t first = begin; first < end; first += at_a_time, f += at_a_time * width) {
                const std::size_t count = std::min(at_a_time, end - first);
                const T* given[block];
                const double* x[block];
                for (std::size_t r = 0; r < count; ++r) {
                    given[r] = rows.values + static_cast<std::ptrdiff_t>(first + r) * rows.row_stride;
                    if (copied)
                        x[r] = copies + r * d;
                    else if constexpr (std::is_same_v<T, double>)
                        x[r] = given[r];
                }
                if (copied && contiguous) {
                    for (std::size_t r = 0; r < count; ++r) std::copy_n(given[r], d, copies + r * d);
                } else if (copied) {
                    for (std::size_t j = 0; j < d; ++j)
                        for (std::size_t r = 0; r < count; ++r)
                            copies[r * d + j] = given[r][static_cast<std::ptrdiff_t>(j) * rows.column_stride];
                }
                if (side_by_side) {
                    score_lines(x, count, lines, d, f, width);
                    continue;
                }
                for (std::size_t k = 0; k < n_out; ++k) {
                    if (copied)
                        score_dots(x, count, by_score.of(k), d, f + k, width);
                    else
                        score_dots(given, count, by_score.of(k), d, f + k, width);
                }
            }
            return true;
        });
}

template <class T, class Index>
std::int64_t compute_scores(const CsrRows<T, Index>& rows, std::size_t n_stored, const ScoreWeights& weights,
                            const ScoresTo& to, std::size_t n_jobs, Monitor& monitor) {
    const std::size_t n_out = weights.n_out, n = rows.n_rows;
    const auto is_sound = [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            if (rows.starts[i] < 0 || rows.starts[i] > rows.starts[i + 1]) return false;
        if (static_cast<std::size_t>(rows.starts[last]) > n_stored) return false;
        using Number = std::make_unsigned_t<Index>;
        const Index *columns = rows.columns + rows.starts[first], *end = rows.columns + rows.starts[last];
        const auto largest = static_cast<Number>(
            std::min<std::size_t>(rows.n_features - 1, std::numeric_limits<Number>::max()));
        Index misfits = 0;
#pragma omp simd reduction(+ : misfits)
        for (const Index* column = columns; column < end; ++column)
            misfits += static_cast<Number>(*column) > largest;
        return misfits == 0;
    };
    const bool side_by_side = worth_lines(weights, n_stored);
    const WeightRows by_score(weights);
    const ScoreWeights none{nullptr, 0, 0, 1, 1, nullptr};
    const WeightLines lines(side_by_side ? weights : none, n_jobs);
    const std::size_t width = side_by_side ? lines.n_lines() * lane : n_out;
    const std::size_t work = (1 + n_stored / std::max<std::size_t>(n, 1)) * (1 + n_out / lane);
    return score_all(n, width, work, 0, weights, to, n_jobs, monitor,
                     [&](std::size_t first, std::size_t last, double* f, double*) {
                         if (!is_sound(first, last)) return false;
                         if (!side_by_side) {
                             for (std::size_t k = 0; k < n_out; ++k)
                                 score_dots(rows, first, last, by_score.of(k), f + k, n_out);
                             return true;
                         }
                         for (std::size_t i = first; i < last; ++i, f += width) {
                             const Index begin = rows.starts[i], end = rows.starts[i + 1];
                             in_parts<4>(lines.n_lines(), [&](auto count, std::size_t line) {
                                 Line sums[count] = {};
                                 for (Index k = begin; k < end; ++k) {
                                     const double x = rows.values[k];
                                     const double* w =
                                         lines.row(static_cast<std::size_t>(rows.columns[k]), line);
                                     for (std::size_t v = 0; v < count; ++v)
                                         sums[v] += x * reinterpret_cast<const Line*>(w)[v];
                                 }
                                 std::memcpy(f + line * lane, sums, sizeof sums);
                             });
                         }
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
