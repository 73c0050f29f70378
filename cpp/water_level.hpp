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
// Levels move little from one step to the next, as the responses under them do on average; a sample of those
// tells where to look. One pass, in vector instructions, sums what is under the level expected less a margin,
// and collects the few responses near it; only those are sorted. When a level turns out to lie elsewhere, the
// margin grows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace pegasos {

class WaterLevel {
public:
    struct Level {
        double at[2] = {0, 0};     // x and z; with one basin the first
        double share[2] = {1, 1};  // of the density that examples exactly at the level have
        double weight = 0;         // under each level, those at it by their share
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
        for (;;) {
            Level level;
            if (!attempt(g, volume, level)) continue;
            for (std::size_t k = 0; k < basins_; ++k) settle(g, k, level.at[k]);
            known_ = true;
            last_volume_ = volume;
            last_weight_ = level.weight;
            return level;
        }
    }

    /// All responses were multiplied: nothing is known of where the level is.
    void scale_moved() { known_ = false; }

private:
    struct Near {
        double at, weight;
        std::uint32_t row;
        bool operator<(const Near& other) const { return at < other.at; }
    };

    /// Moves the last levels as a sample of the responses under them has moved, and by the volume added.
    void follow(const double* g, double volume) {
        if (!known_) return;
        for (std::size_t k = 0; k < basins_; ++k) {
            double sum = 0;
            for (const Near& one : followed_[k]) sum += response(g, one.row) - one.at;
            if (!followed_[k].empty()) last_[k] += sum / static_cast<double>(followed_[k].size());
            if (last_weight_ > 0)
                last_[k] += (volume - last_volume_) / (static_cast<double>(basins_) * last_weight_);
        }
    }

    double response(const double* g, std::size_t i) const { return signed_[i] > 0 ? g[i] : -g[i]; }

    /// Remembers a level, with a margin wide enough for some dozens of responses on either side.
    void settle(const double* g, std::size_t k, double at) {
        constexpr std::ptrdiff_t some = 32;
        constexpr std::size_t sample = 1024;
        const double missed = known_ ? 2 * std::abs(at - last_[k]) : 0;
        last_[k] = at;
        const auto first = near_[k].begin(), last = near_[k].end();
        const auto here = std::lower_bound(first, last, Near{at, 0, 0});
        const double below = here - first > some ? at - (here - some)->at : 0;
        const double above = last - here > some ? (here + some)->at - at : 0;
        const double wanted = std::max({below, above, missed, 0.5 * missed_[k]});
        missed_[k] = std::max(missed, 0.9 * missed_[k]);
        if (wanted > 0) margin_[k] = wanted;
        followed_[k].clear();
        const std::size_t stride = std::max<std::size_t>(signed_.size() / sample, 1);
        for (std::size_t i = 0; i < signed_.size(); i += stride)
            if (basin(i) == k && response(g, i) < at)
                followed_[k].push_back({response(g, i), 0, static_cast<std::uint32_t>(i)});
    }

    bool attempt(const double* g, double volume, Level& level) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double from[2] = {-infinity, -infinity}, to[2] = {infinity, infinity};
        if (known_)
            for (std::size_t k = 0; k < basins_; ++k) {
                from[k] = last_[k] - margin_[k];
                to[k] = last_[k] + margin_[k];
            }
        double under[2] = {0, 0}, left = volume - look(g, from, to, under);
        if (left < 0) return widen(2);
        for (std::size_t k = 0; k < basins_; ++k) std::sort(near_[k].begin(), near_[k].end());

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
            if (near_[k].empty()) return widen(k);
            at[k] = near_[k][0].at;
            raised[k] = true;
            absorb();
        }
        for (;;) {
            k = basins_ == 2 && under[1] < under[0];
            const double floor = next[k] < near_[k].size() ? near_[k][next[k]].at : to[k];
            const double cost = under[k] * (floor - at[k]);
            if (cost < left) {
                if (next[k] == near_[k].size()) return widen(k);
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
        for (std::size_t j = 0; j < basins_; ++j)
            if (!raised[j] && std::isfinite(from[j])) return widen(j);
        level.weight = under[k];
        for (std::size_t j = 0; j < basins_; ++j) {
            level.at[j] = at[j];
            if (j != k && tie[j] > 0)
                level.share[j] = std::clamp((under[k] - (under[j] - tie[j])) / tie[j], 0.0, 1.0);
        }
        level.gamma = basins_ == 2 ? (at[0] + at[1]) / 2 : at[0];
        level.b = basins_ == 2 ? (at[1] - at[0]) / 2 : 0;
        return true;
    }

    /// Looks further; 2 means everywhere.
    bool widen(std::size_t k) {
        for (std::size_t j = 0; j < 2; ++j)
            if (j == k || k == 2) margin_[j] *= 8;
        return false;
    }

    /// Weights and volume under `from`, and the responses from there up to `to`. In vectors by hand: gcc
    /// makes half as fast code of the loop itself.
    double look(const double* g, const double* from, const double* to, double* under) {
        typedef double Line __attribute__((vector_size(64), aligned(8), may_alias));
        typedef std::int64_t Mask __attribute__((vector_size(64)));
        constexpr std::size_t lane = 8, stretch = 64;
        near_[0].clear();
        near_[1].clear();
        const bool two = basins_ == 2;
        const double x = from[0], z = two ? from[1] : x, top = to[0], other = two ? to[1] : top;
        const Line zero = {}, lowest[2] = {zero + x, zero + z}, highest[2] = {zero + top, zero + other};
        Line weights = {}, differences = {}, volumes = {};
        double weight = 0, difference = 0, filled = 0;
        const double* signs = signed_.data();
        const std::size_t n = signed_.size();
        const auto take = [&](std::size_t i) {
            const bool positive = signs[i] > 0;
            const double c = positive ? g[i] : -g[i];
            if (!((positive ? x : z) - c > 0) && c < (positive ? top : other) && signs[i] != 0)
                near_[basin(i)].push_back({c, std::abs(signs[i]), static_cast<std::uint32_t>(i)});
        };
        std::size_t first = 0;
        for (; first + stretch <= n; first += stretch) {
            Mask any = {};
            for (std::size_t i = first; i < first + stretch; i += lane) {
                const Line sign = *reinterpret_cast<const Line*>(signs + i);
                const Line response = *reinterpret_cast<const Line*>(g + i);
                const Mask positive = sign > zero;
                const Line c = positive ? response : -response;
                const Line depth = (positive ? lowest[0] : lowest[1]) - c;
                const Mask below = depth > zero;
                const Line own = below ? sign : zero, size = positive ? own : -own;
                differences += own;
                weights += size;
                volumes += below ? size * depth : zero;
                any |= ~below & (c < (positive ? highest[0] : highest[1]));
            }
            std::int64_t found = 0;
            for (std::size_t k = 0; k < lane; ++k) found |= any[k];
            if (found)
                for (std::size_t i = first; i < first + stretch; ++i) take(i);
        }
        for (std::size_t k = 0; k < lane; ++k) {
            weight += weights[k];
            difference += differences[k];
            filled += volumes[k];
        }
        for (std::size_t i = first; i < n; ++i) {
            const double c = signs[i] > 0 ? g[i] : -g[i], depth = (signs[i] > 0 ? x : z) - c;
            if (depth > 0) {
                weight += std::abs(signs[i]);
                difference += signs[i];
                filled += std::abs(signs[i]) * depth;
            }
            take(i);
        }
        under[0] = two ? (weight + difference) / 2 : weight;
        under[1] = two ? (weight - difference) / 2 : 0;
        return filled;
    }

    std::vector<double> signed_;  // y_i s_i
    const std::size_t basins_;
    bool known_ = false;
    double last_[2] = {0, 0}, margin_[2] = {1e-3, 1e-3}, missed_[2] = {0, 0};
    double last_volume_ = 0, last_weight_ = 0;
    std::vector<Near> near_[2], followed_[2];
};

}  // namespace pegasos
