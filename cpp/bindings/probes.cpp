// Windows into parts of the core that no solver shows, for the tests.
#include "base/best_intercept.hpp"
#include "base/random.hpp"
#include "base/rounding.hpp"
#include "base/sampling.hpp"
#include "base/vector_math.hpp"
#include "classes/multiclass.hpp"
#include "linear/scaled_vector.hpp"
#include "rows/rows.hpp"
#include "run.hpp"

namespace {

/// Makes `steps` random steps w <- factor w, w <- w + c x on random sparse rows; returns the tracked ||w||^2
/// and the one computed from w.
std::pair<double, double> tracked_norm(std::uint64_t seed, std::size_t n_features, std::size_t steps,
                                       double factor) {
    constexpr std::size_t n_rows = 64, entries = 8;
    Random random(seed);
    std::vector<float> values;
    std::vector<std::int32_t> columns, starts{0};
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t k = 0; k < entries; ++k) {
            values.push_back(static_cast<float>(random.normal()));
            columns.push_back(static_cast<std::int32_t>(random.below(n_features)));
        }
        starts.push_back(static_cast<std::int32_t>(values.size()));
    }
    const CsrRows<float, std::int32_t> rows{values.data(), columns.data(), starts.data(),
                                            n_rows,        n_features,     0.5};
    ScaledVector w(n_features + 1);
    for (std::size_t t = 0; t < steps; ++t) {
        w.scale(factor);
        w.add(rows, random.below(n_rows), random.normal());
        if (t % 1000 == 999) w.project(1.0);
    }
    return {w.squared_norm(), squared_norm(w.value())};
}

std::vector<std::uint64_t> draws(std::uint64_t seed, std::uint64_t bound, std::size_t count) {
    Random random(seed);
    std::vector<std::uint64_t> result(count);
    for (auto& draw : result) draw = random.below(bound);
    return result;
}

std::vector<RowNumber> sample(const std::string& sampling, std::size_t n_rows, std::size_t batch,
                              std::uint64_t seed, std::size_t count) {
    std::vector<RowNumber> block(count);
    make_sampler(sampling, {}, n_rows, batch, seed)->fill(block);
    return block;
}

/// b and the slope of each row: empty where there is none.
std::pair<double, std::vector<double>> best_intercept_of(const std::vector<double>& responses,
                                                         const std::vector<double>& labels,
                                                         const std::vector<double>& weights) {
    std::vector<Kink> kinks;
    for (std::size_t i = 0; i < responses.size(); ++i)
        kinks.push_back({labels[i] - responses[i], labels[i] * weights[i]});
    const std::vector<Kink> rows = kinks;
    const BestIntercept found = best_intercept(kinks);
    std::vector<double> slopes;
    if (found.exists)
        for (const Kink& row : rows) slopes.push_back(found.slope(row));
    return {found.b, slopes};
}

template <class Real, Real (*function)(Real)>
std::vector<Real> each(std::vector<Real> numbers) {
    for (Real& number : numbers) number = function(number);
    return numbers;
}

/// The p that a visit of a row leads to, and its term of the gap before.
std::pair<std::vector<double>, double> joint_step(const std::string& loss, const std::vector<double>& cost,
                                                  std::uint32_t y, const std::vector<double>& scores,
                                                  const std::vector<double>& from, double a) {
    const std::size_t K = scores.size();
    AlignedVector<double> f(padded(K)), p(padded(K));
    std::copy(scores.begin(), scores.end(), f.begin());
    std::copy(from.begin(), from.end(), p.begin());
    const auto each = JointLoss::named(loss, cost, K);
    JointRow row{1, a, each->dual(p.data(), y), y, JointRow::none};
    const JointVisit visit = each->make_ascent()->visit(f.data(), row, p.data(), a);
    return {std::vector<double>(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(K)), visit.gap};
}

}  // namespace

void bind_probes(nb::module_& m) {
    m.def("probe_tracked_norm", &tracked_norm, "seed"_a, "n_features"_a, "steps"_a, "factor"_a);
    m.def("probe_draws", &draws, "seed"_a, "bound"_a, "count"_a);
    m.def("probe_best_intercept", &best_intercept_of, "responses"_a, "labels"_a, "weights"_a);
    m.def("probe_exp", &each<double, fast_exp>, "numbers"_a);
    m.def("probe_exp2", &each<double, fast_exp2>, "numbers"_a);
    m.def("probe_exp2_float32", &each<float, fast_exp2>, "numbers"_a);
    m.def("probe_log", &each<double, fast_log>, "numbers"_a);
    m.def("probe_sample", &sample, "sampling"_a, "n_rows"_a, "batch"_a, "seed"_a, "count"_a);
    m.def("probe_joint_step", &joint_step, "loss"_a, "cost"_a, "y"_a, "scores"_a, "p"_a, "a"_a);
}
