// Vectors that begin at a cache line.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "base/pages.hpp"

namespace pegasos {

/// Memory on cache lines of its own; a lot of it on huge pages.
template <class T>
struct Aligned {
    using value_type = T;

    T* allocate(std::size_t count) {
        void* memory = ::operator new(count * sizeof(T), alignment(count));
        ask_for_huge_pages(memory, count * sizeof(T));
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) { ::operator delete(memory, alignment(count)); }
    bool operator==(const Aligned&) const { return true; }

private:
    static std::align_val_t alignment(std::size_t count) {
        return std::align_val_t{count * sizeof(T) >= huge_page ? huge_page : 64};
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
