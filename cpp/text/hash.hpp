// XXH3 with 64 bits and a seed: the hash of strings, written from the specification of xxHash (version 0.8,
// https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md) and tested with the vectors published with it.
//
// Hashed features have the seed 0, and model files rest on that. Tables in memory have a seed that is drawn
// anew for each process: nobody can choose words that all fall into one place.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

namespace pegasos {

class Xxh3 {
public:
    using Word = std::uint64_t;

    explicit Xxh3(Word seed) : seed_(seed) {}

    Word operator()(std::string_view text) const {
        const char* p = text.data();
        const std::size_t size = text.size();
        if (size > 16) return size <= 240 ? of_medium(p, size) : of_long(p, size);
        if (size > 8) return of_9_to_16(p, size);
        if (size >= 4) return of_4_to_8(read<std::uint32_t>(p), read<std::uint32_t>(p + size - 4), size);
        if (size > 0) return of_1_to_3(byte(p[0]), byte(p[size / 2]), byte(p[size - 1]), size);
        return mix_as_xxh64(seed_ ^ secret(56) ^ secret(64));
    }

    /// Of 1 to 8 bytes, given in the low bytes of a word; the others may be anything. It has no branches, so
    /// that a loop over many of them runs in the processor's vectors.
    Word of_1_to_8(Word bytes, Word size) const {
        const Word last = bytes >> ((8 * size - 8) & 63), middle = bytes >> (8 * (size / 2) & 63);
        const Word tiny = of_1_to_3(bytes & 0xff, middle & 0xff, last & 0xff, size);
        const Word small = of_4_to_8(bytes & low_half, bytes >> ((8 * size - 32) & 63) & low_half, size);
        return size < 4 ? tiny : small;
    }

    template <class Unsigned>
    static Unsigned read(const char* p) {
        Unsigned value;
        std::memcpy(&value, p, sizeof value);
        if constexpr (std::endian::native == std::endian::big)
            value = sizeof value == 8 ? __builtin_bswap64(value) : __builtin_bswap32(value);
        return value;
    }

private:
    static constexpr Word low_half = 0xffffffff;
    static constexpr Word prime32[3] = {0x9e3779b1, 0x85ebca77, 0xc2b2ae3d};
    static constexpr Word prime[5] = {0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
                                      0x85ebca77c2b2ae63, 0x27d4eb2f165667c5};
    static constexpr std::size_t stripe = 64, stripes_per_block = 16;
    using Secret = std::array<unsigned char, 192>;
    static constexpr Secret default_secret = {
        0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
        0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
        0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
        0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
        0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
        0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
        0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
        0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
        0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
        0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
        0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
        0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e};

    /// Eight bytes of a secret.
    static constexpr Word secret(std::size_t at, const Secret& bytes = default_secret) {
        Word word = 0;
        for (std::size_t k = 8; k-- > 0;) word = word << 8 | bytes[at + k];
        return word;
    }
    static Word byte(char character) { return static_cast<unsigned char>(character); }

    static Word fold(Word a, Word b) {
        const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
        return static_cast<Word>(product) ^ static_cast<Word>(product >> 64);
    }
    static Word mix(Word x) {
        x = (x ^ x >> 37) * 0x165667919e3779f9;
        return x ^ x >> 32;
    }
    static Word mix_as_xxh64(Word x) {
        x = (x ^ x >> 33) * prime[1];
        x = (x ^ x >> 29) * prime[2];
        return x ^ x >> 32;
    }

    Word of_1_to_3(Word first, Word middle, Word last, Word size) const {
        constexpr Word key = (secret(0) ^ secret(0) >> 32) & low_half;
        return mix_as_xxh64((key + seed_) ^ (last | size << 8 | first << 16 | middle << 24));
    }

    Word of_4_to_8(Word first, Word last, Word size) const {
        constexpr Word multiplier = 0x9fb21c651e98df25;
        const Word seed = seed_ ^ Word{__builtin_bswap32(static_cast<std::uint32_t>(seed_))} << 32;
        Word x = ((secret(8) ^ secret(16)) - seed) ^ (last | first << 32);
        x = (x ^ std::rotl(x, 49) ^ std::rotl(x, 24)) * multiplier;
        x = (x ^ ((x >> 35) + size)) * multiplier;
        return x ^ x >> 28;
    }

    Word of_9_to_16(const char* p, std::size_t size) const {
        const Word low = ((secret(24) ^ secret(32)) + seed_) ^ read<Word>(p);
        const Word high = ((secret(40) ^ secret(48)) - seed_) ^ read<Word>(p + size - 8);
        return mix(size + __builtin_bswap64(low) + high + fold(low, high));
    }

    /// Of 16 bytes, with the secret from `at` on.
    Word of_piece(const char* p, std::size_t at) const {
        return fold(read<Word>(p) ^ (secret(at) + seed_), read<Word>(p + 8) ^ (secret(at + 8) - seed_));
    }

    [[gnu::noinline]] Word of_medium(const char* p, std::size_t size) const {
        Word sum = size * prime[0];
        if (size <= 128) {  // pairs of pieces from both ends, the innermost first
            for (std::size_t k = (size + 31) / 32; k-- > 0;)
                sum += of_piece(p + 16 * k, 32 * k) + of_piece(p + size - 16 * (k + 1), 32 * k + 16);
            return mix(sum);
        }
        for (std::size_t k = 0; k < 8; ++k) sum += of_piece(p + 16 * k, 16 * k);
        sum = mix(sum);
        for (std::size_t k = 8; k < size / 16; ++k) sum += of_piece(p + 16 * k, 16 * (k - 8) + 3);
        return mix(sum + of_piece(p + size - 16, 119));
    }

    [[gnu::noinline]] Word of_long(const char* p, std::size_t size) const {
        Secret own = default_secret;
        for (std::size_t k = 0; k < own.size(); k += 8) {
            const Word word = secret(k) + (k % 16 == 0 ? seed_ : -seed_);
            for (std::size_t j = 0; j < 8; ++j) own[k + j] = static_cast<unsigned char>(word >> 8 * j);
        }
        Word sums[8] = {prime32[2], prime[0], prime[1], prime[2], prime[3], prime32[1], prime[4], prime32[0]};
        const auto add_stripe = [&](const char* from, std::size_t at) {
            for (std::size_t k = 0; k < 8; ++k) {
                const Word word = read<Word>(from + 8 * k), keyed = word ^ secret(at + 8 * k, own);
                sums[k ^ 1] += word;
                sums[k] += (keyed & low_half) * (keyed >> 32);
            }
        };
        const std::size_t n_stripes = (size - 1) / stripe;  // the last 64 bytes are one more
        for (std::size_t n = 0; n < n_stripes; ++n) {
            const std::size_t in_block = n % stripes_per_block;
            add_stripe(p + stripe * n, 8 * in_block);
            if (in_block + 1 == stripes_per_block)
                for (std::size_t k = 0; k < 8; ++k)
                    sums[k] =
                        (sums[k] ^ sums[k] >> 47 ^ secret(own.size() - stripe + 8 * k, own)) * prime32[0];
        }
        add_stripe(p + size - stripe, own.size() - stripe - 7);
        Word sum = size * prime[0];
        for (std::size_t k = 0; k < 8; k += 2)
            sum += fold(sums[k] ^ secret(11 + 8 * k, own), sums[k + 1] ^ secret(19 + 8 * k, own));
        return mix(sum);
    }

    Word seed_;
};

/// The seed of tables in memory, the same throughout the process.
inline std::uint64_t table_seed() {
    static const std::uint64_t seed = [] {
        std::random_device random;
        return std::uint64_t{random()} << 32 | random();
    }();
    return seed;
}

}  // namespace pegasos
