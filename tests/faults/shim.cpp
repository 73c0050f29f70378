// Memory that the core asks for and does not get: the countdown's allocation fails, and no other.
#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<long> countdown{0};

extern "C" void fail_at(long number) { countdown = number; }
extern "C" long left_to_fail() { return countdown; }

static bool fails() { return countdown.load(std::memory_order_relaxed) > 0 && countdown.fetch_sub(1) == 1; }

void* operator new(std::size_t size) {
    void* found = fails() ? nullptr : std::malloc(size ? size : 1);
    if (!found) throw std::bad_alloc();
    return found;
}

void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto step = static_cast<std::size_t>(alignment);
    void* found = fails() ? nullptr : std::aligned_alloc(step, (size + step - 1) / step * step);
    if (!found) throw std::bad_alloc();
    return found;
}

void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
void operator delete(void* place, std::align_val_t) noexcept { std::free(place); }
void operator delete(void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }
