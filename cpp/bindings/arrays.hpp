// Arrays between Python and the core, without copies.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdlib>
#include <span>
#include <vector>

#include "base/growing_array.hpp"

template <class T>
using Vector = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <class T>
std::span<const T> span_of(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

/// A NumPy array that owns the memory.
template <class T>
nanobind::object released(pegasos::GrowingArray<T>& array, std::size_t size) {
    T* const data = array.release(size);
    nanobind::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(data, {size}, owner));
}

/// A NumPy array that owns the vector.
template <class T>
nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>> to_numpy(std::vector<T> vector) {
    auto* owned = new std::vector<T>(std::move(vector));
    nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {owned->data(), {owned->size()}, owner};
}
