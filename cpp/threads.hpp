// A team of threads for one fit: the caller and n - 1 others, which wait between calls.
#pragma once

#include <atomic>
#include <barrier>
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

class Team {
public:
    static constexpr std::size_t most = 1024;  // more would only wait for one another

    explicit Team(std::size_t size = 1)
        : start_(static_cast<std::ptrdiff_t>(size)), end_(static_cast<std::ptrdiff_t>(size)) {
        try {
            for (std::size_t k = 1; k < size; ++k) others_.emplace_back([this, k] { serve(k); });
        } catch (const std::system_error&) {
            const std::size_t started = others_.size() + 1;
            dismiss(size - others_.size());
            throw std::runtime_error("the system gives only " + std::to_string(started) + " of " +
                                     std::to_string(size) + " threads; lower n_jobs");
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
        (void)start_.arrive(static_cast<std::ptrdiff_t>(missing));
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

    std::barrier<> start_, end_;
    std::vector<std::thread> others_;
    const std::function<void(std::size_t)>* task_ = nullptr;
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::atomic<bool> failed_ = false;
};

}  // namespace pegasos
