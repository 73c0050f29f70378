// Short work that several threads take in turns. A team (threads.hpp) begins when all its threads are there
// and ends when all are done, which on a busy machine takes longer than a millisecond of work does alone.
// Here the caller begins at once, and waits only for those that are in the middle of a turn.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "base/function_ref.hpp"
#include "base/threads.hpp"

namespace pegasos {

/// Calls task(k, turn) for turn = 0, ..., n - 1, by at most `n_threads` threads k; k = 0 is the calling one,
/// the only one that may call out to Python. The first exception ends it, and is thrown again.
inline void in_turns(std::size_t n, std::size_t n_threads, FunctionRef<void(std::size_t, std::size_t)> task) {
    struct State {
        FunctionRef<void(std::size_t, std::size_t)> task;  // not called once it is closed
        const std::size_t n;
        std::atomic<std::size_t> next = 0;
        std::mutex mutex;
        std::condition_variable left;
        std::atomic<std::size_t> working = 0;  // threads besides the caller
        bool closed = false;
        std::exception_ptr failure;

        void work(std::size_t k) {
            try {
                for (std::size_t turn; (turn = next.fetch_add(1)) < n;) task(k, turn);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                next = n;
            }
        }

        /// Starts threads 2k + 1 and 2k + 2, which start theirs: the caller has to start two at most.
        static void start_others(const std::shared_ptr<State>& state, std::size_t k, std::size_t n_threads) {
            try {
                for (std::size_t other = 2 * k + 1; other <= 2 * k + 2 && other < n_threads; ++other)
                    std::thread([state, other, n_threads] {
                        {
                            const std::lock_guard lock(state->mutex);
                            if (state->closed) return;
                            ++state->working;
                        }
                        if (state->next < state->n) start_others(state, other, n_threads);
                        state->work(other);
                        const std::lock_guard lock(state->mutex);
                        --state->working;
                        state->left.notify_one();
                    }).detach();
            } catch (const std::exception&) {  // the system gives no more, or has no memory for one
            }
        }
    };
    // A thread that starts late finds the state alive, and closed.
    const auto state = std::make_shared<State>(task, n);
    State::start_others(state, 0, std::min(n_threads, n));
    state->work(0);
    std::unique_lock lock(state->mutex);
    state->closed = true;
    lock.unlock();
    comes_soon([&] { return state->working == 0; });
    lock.lock();
    state->left.wait(lock, [&] { return state->working == 0; });
    if (state->failure) std::rethrow_exception(state->failure);
}

}  // namespace pegasos
