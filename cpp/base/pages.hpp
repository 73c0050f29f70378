// Large memory, on huge pages where the system has them.
#pragma once

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdint>
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
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t{huge_page}); }
};

/// At the start of a huge page, for GiveBackPages; null where there is none.
inline void* take_pages(std::size_t bytes) {
    // To clear a whole page for a part of it takes longer than faults of small ones.
    if (bytes > huge_page / 2) bytes = (bytes + huge_page - 1) / huge_page * huge_page;
    void* const memory = ::operator new(bytes, std::align_val_t{huge_page}, std::nothrow);
    if (memory) ask_for_huge_pages(memory, bytes);
    return memory;
}

}  // namespace pegasos
