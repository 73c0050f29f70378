// Numbers for strings: 0, 1, ... in the order in which they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace pegasos {

/// The same on every machine of the same byte order, as hashed features rest on it.
inline std::uint64_t hash_of(std::string_view text) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
    std::uint64_t hash = (text.size() + 1) * odd;
    const auto mix = [&](std::uint64_t word) {
        const unsigned __int128 product = static_cast<unsigned __int128>(hash ^ word) * 0xd6e8feb86659fd93u;
        hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64) ^ odd;
    };
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) {
        std::uint64_t word;
        std::memcpy(&word, text.data() + at, 8);
        mix(word);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, text.data() + at, text.size() - at);
    mix(rest);
    mix(hash >> 32);
    return hash;
}

class Vocabulary {
public:
    static constexpr std::uint32_t unknown = UINT32_MAX;

    Vocabulary() : ends_{0}, slots_(1024) {}

    std::size_t size() const { return ends_.size() - 1; }
    std::string_view text(std::size_t number) const {
        return {characters_.data() + ends_[number], ends_[number + 1] - ends_[number]};
    }
    /// To find one takes three looks into memory, each at where the last one says. Of several they may be
    /// asked for at a time: the first of all, then the second, then the third.
    void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(&first_slot(hash)); }
    void prefetch_end(std::uint64_t hash) const {
        const Slot& slot = first_slot(hash);
        if (slot.number != unknown) __builtin_prefetch(&ends_[slot.number]);
    }
    void prefetch_text(std::uint64_t hash) const {
        const Slot& slot = first_slot(hash);
        if (slot.number != unknown) __builtin_prefetch(characters_.data() + ends_[slot.number]);
    }

    std::uint32_t find(std::string_view text, std::uint64_t hash) const {
        const Slot& slot = slots_[place(text, hash)];
        return slot.number;
    }
    std::uint32_t find_or_add(std::string_view text, std::uint64_t hash) {
        Slot& slot = slots_[place(text, hash)];
        if (slot.number != unknown) return slot.number;
        if (size() >= unknown - 1) throw std::length_error("more than 4294967294 different features");
        const auto number = static_cast<std::uint32_t>(size());
        slot = {static_cast<std::uint32_t>(hash >> 32), number};
        characters_.insert(characters_.end(), text.begin(), text.end());
        ends_.push_back(characters_.size());
        if (2 * size() > slots_.size()) rebuild(4 * slots_.size());
        return number;
    }

    /// Those kept, in their order; returns the new number of each, `unknown` for the others.
    template <class Keeps>
    std::vector<std::uint32_t> keep(Keeps keeps) {
        Vocabulary kept;
        std::vector<std::uint32_t> numbers(size(), unknown);
        for (std::size_t number = 0; number < size(); ++number)
            if (keeps(number)) numbers[number] = kept.find_or_add(text(number), hash_of(text(number)));
        *this = std::move(kept);
        return numbers;
    }

private:
    struct Slot {
        std::uint32_t tag = 0;  // the upper half of the hash
        std::uint32_t number = unknown;
    };

    const Slot& first_slot(std::uint64_t hash) const { return slots_[hash & (slots_.size() - 1)]; }

    /// Of the text, or of the empty slot where it belongs.
    std::size_t place(std::string_view text, std::uint64_t hash) const {
        const std::size_t mask = slots_.size() - 1;
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.number == unknown || (slot.tag == tag && this->text(slot.number) == text)) return at;
        }
    }

    void rebuild(std::size_t slots) {
        slots_.assign(slots, {});
        for (std::size_t number = 0; number < size(); ++number) {
            const std::uint64_t hash = hash_of(text(number));
            std::size_t at = hash & (slots - 1);
            while (slots_[at].number != unknown) at = (at + 1) & (slots - 1);
            slots_[at] = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(number)};
        }
    }

    std::vector<char> characters_;
    std::vector<std::size_t> ends_;
    std::vector<Slot> slots_;  // a power of two
};

}  // namespace pegasos
