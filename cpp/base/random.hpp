// Random numbers: xoshiro256++ seeded by splitmix64. Small, fast, and the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace pegasos {

class Random {
public:
    explicit Random(std::uint64_t seed) {
        for (auto& word : state_) {
            seed += 0x9e3779b97f4a7c15u;
            std::uint64_t z = seed;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
            word = z ^ (z >> 31);
        }
    }

    std::uint64_t next() {
        const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotate(state_[3], 45);
        return result;
    }

    /// Uniform in {0, ..., bound - 1} without bias: multiply and reject (Lemire 2019).
    std::uint64_t below(std::uint64_t bound) {
        unsigned __int128 product = static_cast<unsigned __int128>(next()) * bound;
        if (static_cast<std::uint64_t>(product) < bound) {
            const std::uint64_t threshold = -bound % bound;
            while (static_cast<std::uint64_t>(product) < threshold)
                product = static_cast<unsigned __int128>(next()) * bound;
        }
        return static_cast<std::uint64_t>(product >> 64);
    }

    /// Uniform in [0, 1), 53 bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    /// Standard normal (Box-Muller, one of the pair).
    double normal() {
        const double radius = std::sqrt(-2 * std::log1p(-uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

private:
    static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

    std::uint64_t state_[4];
};

}  // namespace pegasos
