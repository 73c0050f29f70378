// The pass of every certificate of linear machines, a block of rows at a time: `make_pass`. It is plain code:
// only what a block asks of its rows, their scores and the sums that they are added to, is compiled for each
// storage. A kind of problem (one column of weights, all classes jointly, each class against the rest) says
// in its `Terms` what scores mean: losses with their rounding, dual values, and what a row is multiplied by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/aligned.hpp"
#include "base/certificate.hpp"
#include "base/function_ref.hpp"
#include "base/monitor.hpp"
#include "base/rounding.hpp"
#include "base/threads.hpp"
#include "rows/any_rows.hpp"

namespace pegasos {

/// Rows of a block: few enough that what was read of them is still in the cache when they are added.
inline constexpr std::size_t pass_rows = 16;

/// What the bounds of a row's rounding rest on.
struct RowFacts {
    double norm, entries;  // at least ||x_i||
};

/// A sum of rows times numbers, on request in twice double precision, and how far it may be off in norm. Its
/// parts, `low_` where it is not careful empty, are vectors or matrices.
template <class Store>
class RowsSum {
public:
    /// This <- a this + b other.
    void combine(const Double2& a, const RowsSum& other, const Double2& b) {
        const double plain_a = a.value(), plain_b = b.value();
        reach_.combine(plain_a, other.reach_, plain_b);
        auto& high = numbers_of(high_);
        for (std::size_t j = 0; j < high.size(); ++j)
            if (careful())
                set(j, a * at(j) + b * other.at(j));
            else
                high[j] = plain_a * high[j] + plain_b * numbers_of(other.high_)[j];
    }

    /// How far it may be off, each term by `own` units itself.
    double error(const AnyRows& rows, double own = 32) const {
        return reach_.error(careful(), own) + (rows.rescaled ? reach_.rows_error() : 0);
    }

    /// The sum, rounded to double precision.
    std::vector<double> take() const {
        std::vector<double> all(numbers_of(high_).begin(), numbers_of(high_).end());
        for (std::size_t j = 0; j < numbers_of(low_).size(); ++j) all[j] += numbers_of(low_)[j];
        return all;
    }

protected:
    RowsSum(Store high, Store low) : high_(std::move(high)), low_(std::move(low)) {}

    bool careful() const { return !numbers_of(low_).empty(); }
    Double2 at(std::size_t j) const { return {numbers_of(high_)[j], numbers_of(low_)[j]}; }
    void set(std::size_t j, const Double2& x) {
        numbers_of(high_)[j] = x.high;
        numbers_of(low_)[j] = x.low;
    }

    Store high_, low_;
    Reach reach_;
};

/// Calls look(k, first, last) for all rows, a block at a time, thread k on a range of its own; it returns
/// what work the block was, in entries. The time limit does not end a pass (a fit that ran out of time is
/// still certified), an interrupt does.
inline void pass_over(std::size_t n_rows, Team& team, Monitor& monitor,
                      FunctionRef<std::size_t(std::size_t, std::size_t, std::size_t)> look) {
    team.run_ranges(n_rows, [&](std::size_t k, std::size_t begin, std::size_t end) {
        for (std::size_t first = begin; first < end && !team.failed(); first += pass_rows) {
            const std::size_t work = look(k, first, std::min(first + pass_rows, end));
            if (k == 0) monitor.worked(work);
        }
    });
}

/// Calls score(typed rows, i) for the rows [first, last), with those to come on their way from memory; their
/// facts, and the entries that there are.
template <class Score>
std::size_t read_rows(const AnyRows& any, std::size_t first, std::size_t last, RowFacts* facts, Score score) {
    constexpr std::size_t ahead = 16;  // rows; the hardware alone stops at the ends of pages
    return any.visit([&](const auto& rows) {
        std::size_t all = 0;
        for (std::size_t i = first; i < last; ++i) {
            if (i + ahead < rows.n_rows) rows.prefetch_row(i + ahead);
            const std::size_t entries = rows.entries(i);
            facts[i - first] = {norm_above(rows.squared_norm(i), entries + 1), static_cast<double>(entries)};
            score(rows, i);
            all += entries + 16;
        }
        return all;
    });
}

/// The pass. It returns what each thread added up, a `Terms::Partial`, made on that thread. Terms has
///   score(rows, i, partial, b)                    the scores of row i, which is number b of a block
///   add_losses(first, last, facts, partial)       of their losses, and of what rounding may add to these
///   slopes(first, partial)                        where `slopes` finds the scores, and puts what it fills in
///   add_duals(first, last, partial)               of the dual values at these slopes
///   add_rows(rows, first, last, facts, partial)   of the rows times their slopes
///   work(entries)                                 of the pass over so many entries
template <class Terms>
std::vector<std::optional<typename Terms::Partial>> make_pass(const Terms& terms, const AnyRows& any,
                                                              const SlopeFunction& slopes, Team& team,
                                                              Monitor& monitor) {
    std::vector<std::optional<typename Terms::Partial>> partials(team.size());
    team.run([&](std::size_t k) { partials[k].emplace(terms); });
    pass_over(any.n_rows, team, monitor, [&](std::size_t k, std::size_t first, std::size_t last) {
        auto& partial = *partials[k];
        RowFacts facts[pass_rows];
        const std::size_t entries = read_rows(any, first, last, facts, [&](const auto& rows, std::size_t i) {
            terms.score(rows, i, partial, i - first);
        });
        terms.add_losses(first, last, facts, partial);
        const auto [scores, q] = terms.slopes(first, partial);
        slopes(first, last, scores, q);
        terms.add_duals(first, last, partial);
        any.visit([&](const auto& rows) { terms.add_rows(rows, first, last, facts, partial); });
        return terms.work(entries);
    });
    return partials;
}

}  // namespace pegasos
