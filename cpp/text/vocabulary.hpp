// Numbers for strings: 0, 1, ... in the order in which they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "text/hash.hpp"

namespace pegasos {

class Vocabulary {
public:
    static constexpr std::uint32_t unknown = UINT32_MAX;

    explicit Vocabulary(std::uint64_t seed = table_seed()) : hash_(seed), ends_{0}, slots_(1024) {}

    /// Texts one after the other, and where each ends.
    Vocabulary(std::string_view characters, std::span<const std::int64_t> ends) : Vocabulary() {
        std::size_t from = 0;
        for (const std::int64_t given : ends) {
            const auto end = static_cast<std::size_t>(given);
            if (end < from || end > characters.size())
                throw std::invalid_argument("ends must rise within the characters");
            const std::string_view text = characters.substr(from, end - from);
            const std::size_t before = size();
            if (find_or_add(text, hash_(text)) != before)
                throw std::invalid_argument("a feature is there twice");
            from = end;
        }
    }

    /// By which texts are found.
    const Xxh3& hash() const { return hash_; }
    std::size_t size() const { return ends_.size() - 1; }
    std::string_view text(std::size_t number) const {
        return {characters_.data() + ends_[number], ends_[number + 1] - ends_[number]};
    }
    std::vector<std::uint8_t> characters() const { return {characters_.begin(), characters_.end()}; }
    std::vector<std::int64_t> ends() const { return {ends_.begin() + 1, ends_.end()}; }
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
        kept.hash_ = hash_;
        std::vector<std::uint32_t> numbers(size(), unknown);
        for (std::size_t number = 0; number < size(); ++number)
            if (keeps(number)) numbers[number] = kept.find_or_add(text(number), hash_(text(number)));
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
            const std::uint64_t hash = hash_(text(number));
            std::size_t at = hash & (slots - 1);
            while (slots_[at].number != unknown) at = (at + 1) & (slots - 1);
            slots_[at] = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(number)};
        }
    }

    Xxh3 hash_;
    std::vector<char> characters_;
    std::vector<std::size_t> ends_;
    std::vector<Slot> slots_;  // a power of two
};

}  // namespace pegasos
