// The water level of S4 (sections 3.2 and 3.6): how high a volume of water stands over responses c_i.
//
// One basin: the level x with sum_i s_i max(0, x - c_i) = volume. Two basins, one for each class, when there
// is an intercept b, which lifts the floor of one and lowers that of the other: the levels x and z in terms
// of the c_i, whose sum 2 gamma is the largest that the volume allows; gamma = (x + z) / 2 and b = (z - x)
// / 2.
//
// Raising a level by one unit takes as much water as the weight of the examples under it, which grows with
// the level. So the best levels are found by always raising the one with less weight under it. The minimax
// distribution p then has the same density over both basins; an example exactly at the level may have less.
//
// From one step to the next the examples near a level stay much the same, and those further down move much
// alike: the former and a sample of the latter tell where the level is to be expected. One pass, in vector
// instructions, sums what is under that less a margin, and collects the few responses near it; only those are
// sorted. When a level turns out to lie elsewhere, what was seen tells where to look next, in a wider margin.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/state.hpp"

namespace pegasos {

class WaterLevel {
public:
    struct Level {
        double at[2] = {0, 0};     // x and z; with one basin the first
        double share[2] = {1, 1};  // of the density that examples exactly at the level have
        double gamma = 0, b = 0;
    };

    /// Labels are signs. Without an intercept there is one basin.
    WaterLevel(const std::vector<double>& labels, const std::vector<double>& weights, bool two)
        : signed_(labels.size()), basins_(two ? 2 : 1) {
        for (std::size_t i = 0; i < labels.size(); ++i) signed_[i] = labels[i] * weights[i];
    }

    std::size_t basin(std::size_t i) const { return basins_ == 2 && signed_[i] < 0; }

    /// The level over y_i g_i.
    Level find(const double* g, double volume) {
        follow(g, volume);
        std::copy_n(last_, basins_, expected_);
        for (int tries = 1;; ++tries) {
            if (tries == 32) known_ = false;  // it is nowhere near
            const bool everywhere = !known_;
            Level level;
            if (attempt(g, volume, level)) {
                settle(g, level);
                return level;
            }
            if (everywhere)
                throw std::domain_error(
                    "the numbers overflowed, so that there is no level; scale the features, or use "
                    "solver='smo'");
        }
    }

    /// All responses were multiplied: nothing is known of where the level is.
    void scale_moved() { known_ = false; }

    /// An example near a level.
    struct Near {
        double at, weight;  // its response
        std::uint32_t row;
        bool operator<(const Near& other) const { return at < other.at; }
    };

    /// Those near the levels that were found, lowest first.
    const std::vector<Near>& near(std::size_t k) const { return near_[k]; }

    /// The examples under these levels or at them, in order.
    std::vector<std::uint32_t> rows_under(const double* g, const Level& level) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        std::vector<std::uint32_t> rows;
        std::vector<Near> found[2];
        const double everywhere[2] = {-infinity, -infinity};
        const double to[2] = {std::nextafter(level.at[0], infinity), std::nextafter(level.at[1], infinity)};
        const bool all_near = deep_.weight[0] == 0 && deep_.weight[1] == 0;
        if (!all_near) look(g, everywhere, to, found);
        for (std::size_t k = 0; k < basins_; ++k)
            for (const Near& one : all_near ? near_[k] : found[k])
                if (one.at <= level.at[k]) rows.push_back(one.row);
        std::sort(rows.begin(), rows.end());
        return rows;
    }

    /// Moves the intercept to the middle of those that have the same gamma: where as much weight is under the
    /// one level as under the other, the one may rise as far as the other sinks, up to the next response.
    void centre(const double* g, Level& level) const {
        if (basins_ == 1) return;
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double below[2] = {0, 0}, here[2] = {0, 0};
        double floor[2] = {-infinity, -infinity}, ceiling[2] = {infinity, infinity};
        for (std::size_t i = 0; i < signed_.size(); ++i) {
            if (signed_[i] == 0) continue;
            const std::size_t k = basin(i);
            const double c = response(g, i), weight = std::abs(signed_[i]);
            if (c < level.at[k]) {
                below[k] += weight;
                floor[k] = std::max(floor[k], c);
            } else if (c == level.at[k]) {
                here[k] += weight;
            } else {
                ceiling[k] = std::min(ceiling[k], c);
            }
        }
        const double sum = level.at[0] + level.at[1];
        double low = level.at[0], high = level.at[0];
        const auto weight_of = [&](std::size_t k, bool upper) { return below[k] + (upper ? here[k] : 0); };
        const auto begin_of = [&](std::size_t k, bool upper) { return upper ? level.at[k] : floor[k]; };
        const auto end_of = [&](std::size_t k, bool upper) {
            return upper || here[k] == 0 ? ceiling[k] : level.at[k];
        };
        for (const bool a : {false, true})  // just under the level, just over it
            for (const bool b : {false, true}) {
                const double weight = weight_of(0, a);
                if (std::abs(weight - weight_of(1, b)) > 1e-12 * weight) continue;
                const double first = std::max(begin_of(0, a), sum - end_of(1, b));
                const double last = std::min(end_of(0, a), sum - begin_of(1, b));
                if (first > last) continue;
                low = std::min(low, first);
                high = std::max(high, last);
            }
        level.at[0] = low + (high - low) / 2;
        level.at[1] = sum - level.at[0];
        level.b = (level.at[1] - level.at[0]) / 2;
    }

    void state(State& state) {
        state(near_[0], near_[1], followed_[0], followed_[1], deep_, known_);
        for (double* own : {last_, expected_, from_, margin_, missed_}) state.array(own, 2);
        for (const auto* some : {&near_[0], &near_[1], &followed_[0], &followed_[1]})
            for (const Near& one : *some)
                if (one.row >= signed_.size()) State::refuse();
    }

private:
    /// What lies under two heights: weight by basin, and volume.
    struct Deep {
        double weight[2] = {0, 0}, volume = 0;
    };

    /// Expects the levels where they are for the examples that were near them and a sample of those further
    /// down.
    void follow(const double* g, double volume) {
        if (!known_) return;
        Deep deep = deep_;
        double from[2] = {from_[0], from_[1]};
        for (std::size_t k = 0; k < basins_; ++k) {
            double moved = 0;
            for (const Near& one : followed_[k]) moved += response(g, one.row) - one.at;
            if (!followed_[k].empty()) from[k] += moved / static_cast<double>(followed_[k].size());
            for (Near& one : near_[k]) one.at = response(g, one.row);
            std::sort(near_[k].begin(), near_[k].end());
            if (near_[k].empty() || near_[k][0].at >= from[k]) continue;
            deep.volume -= deep.weight[k] * (from[k] - near_[k][0].at);
            from[k] = near_[k][0].at;
        }
        expect(from, deep, volume);
    }

    /// Where the levels are, were there no other examples than those that are near and what is under `from`.
    void expect(const double* from, const Deep& deep, double volume) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double to[2] = {infinity, infinity}, left = volume - deep.volume;
        Level level{{last_[0], last_[1]}};
        if (left >= 0) raise(from, to, deep, volume, level);
        for (std::size_t k = 0; k < basins_; ++k) {
            if (left < 0 && deep.weight[k] > 0)
                level.at[k] = from[k] + left / (deep.weight[0] + deep.weight[1]);
            if (std::isfinite(level.at[k])) last_[k] = level.at[k];
        }
    }

    double response(const double* g, std::size_t i) const { return signed_[i] > 0 ? g[i] : -g[i]; }

    /// Remembers the levels, with margins wide enough for some dozens of responses on either side.
    void settle(const double* g, const Level& level) {
        constexpr std::ptrdiff_t some = 32;
        constexpr std::size_t sample = 1024;
        for (std::size_t k = 0; k < basins_; ++k) {
            const double at = level.at[k], missed = known_ ? 2 * std::abs(at - expected_[k]) : 0;
            const auto first = near_[k].begin(), last = near_[k].end();
            const auto here = std::lower_bound(first, last, Near{at, 0, 0});
            const double below = here - first > some ? at - (here - some)->at : 0;
            const double above = last - here > some ? (here + some)->at - at : 0;
            missed_[k] += 0.1 * (missed - missed_[k]);
            const double wanted = std::max({below, above, missed_[k]});
            if (wanted > 0) margin_[k] = wanted;
            last_[k] = at;
            followed_[k].clear();
        }
        const std::size_t stride = std::max<std::size_t>(signed_.size() / sample, 1);
        for (std::size_t i = 0; i < signed_.size(); i += stride) {
            const std::size_t k = basin(i);
            const double c = response(g, i);
            if (c < from_[k]) followed_[k].push_back({c, 0, static_cast<std::uint32_t>(i)});
        }
        known_ = true;
    }

    bool attempt(const double* g, double volume, Level& level) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double to[2] = {infinity, infinity};
        for (std::size_t k = 0; k < basins_; ++k) {
            from_[k] = known_ ? last_[k] - margin_[k] : -infinity;
            if (known_) to[k] = last_[k] + margin_[k];
        }
        near_[0].clear();
        near_[1].clear();
        deep_ = look(g, from_, to, near_);
        for (std::size_t k = 0; k < basins_; ++k) std::sort(near_[k].begin(), near_[k].end());
        const std::size_t short_of = raise(from_, to, deep_, volume, level);
        if (short_of == found) return true;
        expect(from_, deep_, volume);
        for (std::size_t k = 0; k < basins_; ++k)
            if (short_of == k || (short_of == both && deep_.weight[k] > 0)) margin_[k] *= 2;
        return false;
    }

    static constexpr std::size_t both = 2, found = 3;

    /// Raises the levels from these heights through the examples that are near. The number of a basin that
    /// should have been looked at further up or down, or `both`, or `found`.
    std::size_t raise(const double* from, const double* to, const Deep& deep, double volume,
                      Level& level) const {
        double left = volume - deep.volume, under[2] = {deep.weight[0], deep.weight[1]};
        if (left < 0) return both;
        double at[2] = {from[0], from[1]}, tie[2] = {0, 0};
        std::size_t next[2] = {0, 0};
        bool raised[2] = {false, false};
        std::size_t k = 0;
        const auto absorb = [&] {  // the examples whose floor is reached
            tie[k] = 0;
            for (; next[k] < near_[k].size() && near_[k][next[k]].at == at[k]; ++next[k])
                tie[k] += near_[k][next[k]].weight;
            under[k] += tie[k];
        };
        for (k = 0; k < basins_; ++k) {  // a basin with nothing under its level is filled for free
            if (under[k] > 0) continue;
            if (near_[k].empty()) return k;
            at[k] = near_[k][0].at;
            raised[k] = true;
            absorb();
        }
        for (;;) {
            k = basins_ == 2 && under[1] < under[0];
            const double floor = next[k] < near_[k].size() ? near_[k][next[k]].at : to[k];
            const double cost = under[k] * (floor - at[k]);
            if (cost < left) {
                if (next[k] == near_[k].size()) return k;
                left -= cost;
                at[k] = floor;
                raised[k] = true;
                absorb();
                continue;
            }
            if (left > 0) {
                at[k] += left / under[k];
                tie[k] = 0;
                raised[k] = true;
            }
            break;
        }
        for (std::size_t j = 0; j < basins_; ++j) level.at[j] = at[j];
        for (std::size_t j = 0; j < basins_; ++j)
            if (!raised[j] && std::isfinite(from[j])) return j;
        for (std::size_t j = 0; j < basins_; ++j) {
            if (j != k && tie[j] > 0)
                level.share[j] = std::clamp((under[k] - (under[j] - tie[j])) / tie[j], 0.0, 1.0);
        }
        level.gamma = basins_ == 2 ? (at[0] + at[1]) / 2 : at[0];
        level.b = basins_ == 2 ? (at[1] - at[0]) / 2 : 0;
        return found;
    }

    /// What is under `from`, and the examples from there up to `to`. In vectors by hand: gcc makes half as
    /// fast code of the loop itself.
    Deep look(const double* g, const double* from, const double* to, std::vector<Near>* near) const {
        typedef double Line __attribute__((vector_size(64), aligned(8), may_alias));
        typedef std::int64_t Mask __attribute__((vector_size(64), may_alias));
        constexpr std::size_t lane = 8, stretch = 64;
        const bool two = basins_ == 2;
        const double x = from[0], z = two ? from[1] : x, top = to[0], other = two ? to[1] : top;
        const Line zero = {}, lowest[2] = {zero + x, zero + z}, highest[2] = {zero + top, zero + other};
        Line weights = {}, differences = {}, volumes = {};
        double weight = 0, difference = 0, filled = 0;
        const double* signs = signed_.data();
        const std::size_t n = signed_.size();
        const auto take = [&](std::size_t i) {
            if (signs[i] != 0)
                near[basin(i)].push_back({response(g, i), std::abs(signs[i]), static_cast<std::uint32_t>(i)});
        };
        std::size_t first = 0;
        for (; first + stretch <= n; first += stretch) {
            alignas(64) std::int64_t close[stretch];
            Mask any = {};
            for (std::size_t i = 0; i < stretch; i += lane) {
                const Line sign = *reinterpret_cast<const Line*>(signs + first + i);
                const Line response = *reinterpret_cast<const Line*>(g + first + i);
                const Mask positive = sign > zero;
                const Line c = positive ? response : -response;
                const Line depth = (positive ? lowest[0] : lowest[1]) - c;
                const Mask below = depth > zero;
                const Line own = below ? sign : zero, size = positive ? own : -own;
                differences += own;
                weights += size;
                volumes += below ? size * depth : zero;
                const Mask here = ~below & (c < (positive ? highest[0] : highest[1]));
                *reinterpret_cast<Mask*>(close + i) = here;
                any |= here;
            }
            std::int64_t some = 0;
            for (std::size_t k = 0; k < lane; ++k) some |= any[k];
            if (!some) continue;
            std::uint8_t which[stretch];
            std::size_t count = 0;
            for (std::size_t i = 0; i < stretch; ++i) {
                which[count] = static_cast<std::uint8_t>(i);
                count += close[i] != 0;
            }
            for (std::size_t k = 0; k < count; ++k) take(first + which[k]);
        }
        for (std::size_t k = 0; k < lane; ++k) {
            weight += weights[k];
            difference += differences[k];
            filled += volumes[k];
        }
        for (std::size_t i = first; i < n; ++i) {
            const bool positive = signs[i] > 0;
            const double c = response(g, i), depth = (positive ? x : z) - c;
            if (depth > 0) {
                weight += std::abs(signs[i]);
                difference += signs[i];
                filled += std::abs(signs[i]) * depth;
            } else if (c < (positive ? top : other)) {
                take(i);
            }
        }
        return {{two ? (weight + difference) / 2 : weight, two ? (weight - difference) / 2 : 0}, filled};
    }

    std::vector<double> signed_;  // y_i s_i
    const std::size_t basins_;
    bool known_ = false;
    double last_[2] = {0, 0}, expected_[2] = {0, 0}, margin_[2] = {1e-3, 1e-3}, missed_[2] = {0, 0};
    double from_[2] = {0, 0};  // where the last look began, with what is under it
    Deep deep_;
    std::vector<Near> near_[2], followed_[2];
};

}  // namespace pegasos
