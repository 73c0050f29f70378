// An array that grows, of memory that is not touched before it is used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#include "base/pages.hpp"

namespace pegasos {

/// Memory from malloc: a large array grows and shrinks by moving pages, not bytes. Elements are not
/// initialised.
template <class T>
class GrowingArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    GrowingArray() = default;
    GrowingArray(GrowingArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
    GrowingArray& operator=(GrowingArray&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~GrowingArray() { std::free(data_); }

    T* data() const { return data_; }
    std::size_t capacity() const { return capacity_; }

    void set_capacity(std::size_t capacity) {
        capacity = std::max<std::size_t>(capacity, 1);
        if (capacity == capacity_) return;
        if (capacity > PTRDIFF_MAX / sizeof(T)) throw std::bad_alloc();
        void* const memory = std::realloc(data_, capacity * sizeof(T));
        if (!memory) throw std::bad_alloc();
        data_ = static_cast<T*>(memory);
        if (capacity > capacity_) ask_for_huge_pages(data_, capacity * sizeof(T));
        capacity_ = capacity;
    }

    /// Room for so many elements, the first of which stay.
    T* at_least(std::size_t capacity) {
        if (capacity > capacity_) set_capacity(capacity);
        return data_;
    }

    /// The first `size` elements; the caller frees them by std::free.
    T* release(std::size_t size) {
        set_capacity(size);
        capacity_ = 0;
        return std::exchange(data_, nullptr);
    }

private:
    T* data_ = nullptr;
    std::size_t capacity_ = 0;
};

}  // namespace pegasos
