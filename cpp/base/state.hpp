// The state of a run, as bytes: what a checkpoint holds, and where a run that was ended goes on, to the same
// bits.
//
// A solver names its variables once, in a function that both reads and writes them:
//
//   const auto state = [&](State& state) { state(solution, w_, b_, random_); };
//   context.resume(state);             // where there is a checkpoint, the run goes on from there
//   for (;;) {
//       context.offer(state);          // between two epochs; written now and then
//       ...
//
// What follows from the problem and the options alone is not part of it.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/monitor.hpp"

namespace pegasos {

class State {
public:
    /// To write.
    State() : reads_(false) {}
    /// To read.
    explicit State(std::string_view bytes) : left_(bytes), reads_(true) {}

    bool reads() const { return reads_; }
    const std::string& bytes() const { return written_; }

    /// Reads or writes each.
    template <class... Values>
    void operator()(Values&... values) {
        (pass(values), ...);
    }

    /// The same for an array whose length the problem gives.
    template <class T>
    void array(T* values, std::size_t size) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::size_t length = size * sizeof(T);
        if (!reads_) {
            written_.append(reinterpret_cast<const char*>(values), length);
        } else {
            if (left_.size() < length) refuse();
            if (length > 0) std::memcpy(static_cast<void*>(values), left_.data(), length);
            left_.remove_prefix(length);
        }
    }

    /// All was read.
    void end() const {
        if (!left_.empty()) refuse();
    }

    [[noreturn]] static void refuse() {
        throw std::invalid_argument("the checkpoint does not belong to this run: delete it, and start anew");
    }

private:
    template <class T>
    void pass(T& value) {
        if constexpr (requires { value.state(*this); })
            value.state(*this);
        else
            array(&value, 1);
    }

    void pass(std::string& text) { pass_sized(text); }

    template <class T>
    void pass(std::vector<T>& values) {
        if constexpr (std::is_same_v<T, bool>) {
            std::vector<std::uint8_t> bytes(values.begin(), values.end());
            pass_sized(bytes);
            values.assign(bytes.begin(), bytes.end());
        } else if constexpr (std::is_trivially_copyable_v<T>) {
            pass_sized(values);
        } else {
            std::size_t size = values.size();
            array(&size, 1);
            if (size > left_.size() && reads_) refuse();  // each takes a byte at the least
            values.resize(size);
            for (T& value : values) pass(value);
        }
    }

    template <class Values>
    void pass_sized(Values& values) {
        std::size_t size = values.size();
        array(&size, 1);
        if (reads_) {
            if (size > left_.size() / sizeof(*values.data())) refuse();
            values.resize(size);
        }
        array(values.data(), size);
    }

    std::string_view left_;  // to read
    std::string written_;
    const bool reads_;
};

/// Where the state of a run is kept: the one that it goes on from, and who takes others, and how often.
class Checkpoints {
public:
    /// `stored`: empty where the run begins.
    Checkpoints(std::string_view stored, double every, double next, Monitor& monitor,
                std::function<void(const std::string&, bool)> write)
        : stored_(stored), every_(every), next_(next), monitor_(monitor), write_(std::move(write)) {}

    template <class F>
    void resume(F state) {
        if (stored_.empty()) return;
        State stored(stored_);
        state(stored);
        stored.end();
        stored_ = {};
    }

    template <class F>
    void offer(F state) {
        if (monitor_.seconds() < next_) return;
        State now;
        state(now);
        write_(now.bytes(), false);
        next_ = monitor_.seconds() + every_;
    }

    /// What the run found, for another one to return at once.
    template <class Solution>
    void finish(Solution& solution) {
        State now;
        now(solution);
        write_(now.bytes(), true);
    }

private:
    std::string_view stored_;
    double every_, next_;
    Monitor& monitor_;
    std::function<void(const std::string&, bool)> write_;
};

}  // namespace pegasos
