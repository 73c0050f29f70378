// A team of threads for one fit: the caller and n - 1 others, which wait between calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace pegasos {

/// Tells the processor that a loop waits.
inline void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Looks for about a tenth of a millisecond whether something has come: who goes to sleep at once has to be
/// woken, which takes as long as hundreds of visits, on a virtual machine thousands.
template <class Condition>
bool comes_soon(Condition has_come) {
    for (int look = 0; look < 4000; ++look, pause())
        if (has_come()) return true;
    return false;
}

/// Where threads wait for one another; std::barrier goes to sleep at once.
class Barrier {
public:
    explicit Barrier(std::size_t size) : size_(size) {}

    void arrive_and_wait() {
        const unsigned round = round_.load(std::memory_order_relaxed);
        if (arrive(1)) return;
        if (comes_soon([&] { return round_.load(std::memory_order_acquire) != round; })) return;
        round_.wait(round, std::memory_order_acquire);
    }

    /// So many threads arrive and do not wait; true where they were the last.
    bool arrive(std::size_t count) {
        if (arrived_.fetch_add(count, std::memory_order_acq_rel) + count < size_) return false;
        arrived_.store(0, std::memory_order_relaxed);
        round_.fetch_add(1, std::memory_order_release);
        round_.notify_all();
        return true;
    }

private:
    const std::size_t size_;
    std::atomic<std::size_t> arrived_ = 0;
    std::atomic<unsigned> round_ = 0;
};

class Team {
public:
    static constexpr std::size_t most = 1024;  // more would only wait for one another

    explicit Team(std::size_t size = 1) : start_(size), end_(size) {
        try {
            for (std::size_t k = 1; k < size; ++k) others_.emplace_back([this, k] { serve(k); });
        } catch (const std::system_error&) {
            dismiss(size - others_.size());
            throw std::runtime_error("the system gives only " + std::to_string(this->size()) + " of " +
                                     std::to_string(size) + " threads; lower n_jobs");
        } catch (...) {  // there is no memory for one
            dismiss(size - others_.size());
            throw;
        }
    }
    ~Team() { dismiss(1); }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    std::size_t size() const { return others_.size() + 1; }

    /// Calls task(k) for k = 0, ..., size - 1 at the same time, k = 0 on the calling thread (the only one
    /// that may call out to Python), and returns when all are done. The first exception is thrown again.
    void run(const std::function<void(std::size_t)>& task) {
        if (others_.empty()) return task(0);
        failure_ = nullptr;
        failed_ = false;
        task_ = &task;
        start_.arrive_and_wait();
        attempt(0);
        end_.arrive_and_wait();
        if (failure_) std::rethrow_exception(failure_);
    }

    /// Whether a thread has failed in the present call: the others may then return early.
    bool failed() const { return failed_.load(std::memory_order_relaxed); }

    /// task(k, first, last) over [0, n) cut into `size` ranges of equal length.
    void run_ranges(std::size_t n, const std::function<void(std::size_t, std::size_t, std::size_t)>& task) {
        run([&](std::size_t k) { task(k, n * k / size(), n * (k + 1) / size()); });
    }

private:
    /// Ends the other threads; `missing` of the team are not waiting for a task.
    void dismiss(std::size_t missing) {
        task_ = nullptr;
        start_.arrive(missing);
        for (auto& thread : others_) thread.join();
    }
    void attempt(std::size_t k) {
        try {
            (*task_)(k);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            failed_ = true;
        }
    }
    void serve(std::size_t k) {
        for (;;) {
            start_.arrive_and_wait();
            if (!task_) return;
            attempt(k);
            end_.arrive_and_wait();
        }
    }

    Barrier start_, end_;
    std::vector<std::thread> others_;
    const std::function<void(std::size_t)>* task_ = nullptr;
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::atomic<bool> failed_ = false;
};

}  // namespace pegasos
