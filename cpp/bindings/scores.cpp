// Scores under linear weights, as Python sees them.
#include "linear/scores.hpp"

#include <limits>

#include "run.hpp"

namespace {

template <class T>
using AnyMatrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

/// find(weights, to, context) returns what is wrong, by row. Scores row by row, or numbers, and that row;
/// None in place of them where rows are broken.
template <class Find>
nb::tuple score(std::size_t n_rows, std::size_t n_features, const AnyMatrix<double>& coef,
                const Vector<double>& intercept, bool numbers, Find find) {
    if (coef.shape(1) != n_features || coef.shape(0) != intercept.shape(0) || coef.shape(0) == 0)
        throw std::invalid_argument("lengths differ");
    const ScoreWeights weights{coef.data(),    n_features,     coef.shape(0),
                               coef.stride(1), coef.stride(0), intercept.data()};
    GrowingArray<double> scores;
    GrowingArray<std::int64_t> best;
    const std::size_t size = numbers ? n_rows : n_rows * weights.n_out;
    if (numbers)
        best.set_capacity(size);
    else
        scores.set_capacity(size);
    const Run run{1, 0, std::numeric_limits<double>::infinity(), 0, {}, {}, {}, false};
    const std::int64_t wrong = with_context(
        run, [&](Context& context) { return find(weights, ScoresTo{scores.data(), best.data()}, context); });
    if (wrong == broken_rows) return nb::make_tuple(nb::none(), wrong);
    return nb::make_tuple(numbers ? released(best, size) : released(scores, size), wrong);
}

template <class T>
nb::tuple dense_scores(const AnyMatrix<T>& X, const AnyMatrix<double>& coef, const Vector<double>& intercept,
                       bool numbers, std::size_t n_jobs) {
    const StridedRows<T> rows{X.data(), X.shape(0), X.shape(1), X.stride(0), X.stride(1)};
    return score(rows.n_rows, rows.n_features, coef, intercept, numbers,
                 [&](const ScoreWeights& weights, const ScoresTo& to, Context& context) {
                     return compute_scores(rows, weights, to, std::clamp<std::size_t>(n_jobs, 1, Team::most),
                                           context.monitor);
                 });
}

template <class T, class Index>
nb::tuple csr_scores(const Vector<T>& values, const Vector<Index>& columns, const Vector<Index>& starts,
                     std::size_t n_features, const AnyMatrix<double>& coef, const Vector<double>& intercept,
                     bool numbers, std::size_t n_jobs) {
    if (starts.shape(0) == 0) throw std::invalid_argument("a CSR matrix needs at least one row start");
    const CsrRows<T, Index> rows{values.data(),       columns.data(), starts.data(),
                                 starts.shape(0) - 1, n_features,     0};
    const std::size_t n_stored = std::min(values.shape(0), columns.shape(0));
    return score(rows.n_rows, n_features, coef, intercept, numbers,
                 [&](const ScoreWeights& weights, const ScoresTo& to, Context& context) {
                     return compute_scores(rows, n_stored, weights, to,
                                           std::clamp<std::size_t>(n_jobs, 1, Team::most), context.monitor);
                 });
}

}  // namespace

void bind_scores(nb::module_& m) {
    const auto def = [&]<class T>(T) {
        m.def("dense_scores", &dense_scores<T>, "X"_a.noconvert(), "coef"_a.noconvert(), "intercept"_a,
              "numbers"_a, "n_jobs"_a);
        const auto def_csr = [&]<class Index>(Index) {
            m.def("csr_scores", &csr_scores<T, Index>, "values"_a.noconvert(), "columns"_a.noconvert(),
                  "starts"_a.noconvert(), "n_features"_a, "coef"_a.noconvert(), "intercept"_a, "numbers"_a,
                  "n_jobs"_a);
        };
        def_csr(std::int32_t{});
        def_csr(std::int64_t{});
    };
    def(double{});
    def(float{});
}
