// Large memory, on huge pages where the system has them.
#pragma once

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace pegasos {

inline constexpr std::size_t huge_page = std::size_t{1} << 21;

/// Most of what fresh memory costs is a fault per page, and most entries of a sparse row would miss the table
/// of small pages.
inline void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    constexpr std::size_t page = 4096;
    if (bytes < huge_page) return;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (address + page - 1) / page * page, last = (address + bytes) / page * page;
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

struct GiveBackPages {
    std::align_val_t alignment{64};
    void operator()(void* memory) const { ::operator delete(memory, alignment); }
};

template <class T>
using Pages = std::unique_ptr<T, GiveBackPages>;

/// So many numbers, whose values are not set: at the start of a huge page where they fill some, or else at
/// that of a cache line. Null where there is no memory.
template <class T>
Pages<T> take_pages(std::size_t count) {
    // What is small comes from memory that was in use before, which the system need not clear.
    constexpr std::size_t small = 2 * huge_page;
    std::size_t bytes = count * sizeof(T);
    const std::align_val_t alignment{bytes < small ? 64 : huge_page};
    if (bytes >= small) bytes = (bytes + huge_page - 1) / huge_page * huge_page;
    void* const memory = ::operator new(bytes, alignment, std::nothrow);
    if (memory && bytes >= small) ask_for_huge_pages(memory, bytes);
    return {static_cast<T*>(memory), GiveBackPages{alignment}};
}

}  // namespace pegasos
