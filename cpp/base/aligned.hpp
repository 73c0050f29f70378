// Vectors that begin at a cache line.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace pegasos {

/// Memory on cache lines of its own; a lot of it on huge pages, as most entries of a sparse row would
/// otherwise miss the table of pages.
template <class T>
struct Aligned {
    using value_type = T;

    T* allocate(std::size_t count) {
        void* memory = ::operator new(count * sizeof(T), alignment(count));
#ifdef MADV_HUGEPAGE
        if (count * sizeof(T) >= huge) madvise(memory, count * sizeof(T), MADV_HUGEPAGE);
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) { ::operator delete(memory, alignment(count)); }
    bool operator==(const Aligned&) const { return true; }

private:
    static constexpr std::size_t huge = std::size_t{1} << 21;
    static std::align_val_t alignment(std::size_t count) {
        return std::align_val_t{count * sizeof(T) >= huge ? huge : 64};
    }
};

template <class T>
using AlignedVector = std::vector<T, Aligned<T>>;

/// The numbers of a vector, or of a matrix, which has them in `values()`.
template <class Store>
auto& numbers_of(Store& store) {
    if constexpr (requires { store.values(); })
        return store.values();
    else
        return store;
}

}  // namespace pegasos
