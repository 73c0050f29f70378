// The solver's clock and its line to the outside: time limit, interrupts, progress. Solvers report the work
// they did; every few tens of milliseconds that turns into one look at the clock and one call of `heartbeat`.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

namespace pegasos {

/// Ends a run between two checks: what the last one found is what there is.
struct Ended {
    const char* reason;
};

class Monitor {
public:
    /// While one is there the end of the time is thrown as `Ended`: for long work that is worth nothing
    /// before it is done. `patient`: the end of the whole fit, where the run is one of several.
    class Strict {
    public:
        explicit Strict(Monitor& monitor, bool patient = false)
            : monitor_(monitor),
              before_(std::exchange(monitor.thrown_at_,
                                    patient ? monitor.last_seconds_ : monitor.max_seconds_)) {}
        ~Strict() { monitor_.thrown_at_ = before_; }
        Strict(const Strict&) = delete;
        Strict& operator=(const Strict&) = delete;

    private:
        Monitor& monitor_;
        const double before_;
    };

    /// `elapsed`: seconds the fit has already taken. `max_seconds`: when the run is to end; `last_seconds`,
    /// when the fit is that it is part of. `heartbeat(epoch, seconds)` may throw to end the solve. `clock`
    /// tells the seconds since some moment; where it is empty, the system's steady clock does.
    Monitor(double elapsed, double max_seconds, double last_seconds,
            std::function<void(double, double)> heartbeat, std::function<double()> clock)
        : clock_(clock ? std::move(clock) : steady),
          start_(clock_()),
          elapsed_(elapsed),
          max_seconds_(max_seconds),
          last_seconds_(std::max(last_seconds, max_seconds)),
          heartbeat_(std::move(heartbeat)) {}

    double seconds() const { return elapsed_ + (clock_() - start_); }
    bool timed_out() const { return timed_out_; }

    /// How far the run is, for the progress report.
    void at_epoch(double epoch) { epoch_ = epoch; }

    /// Counts `entries` of work done; true when the time is up.
    bool worked(std::size_t entries) {
        pending_ += entries + 16;
        return pending_ < 50'000 ? timed_out_ : look();
    }

    /// Looks at the clock, however little work was done since the last look; true when the time is up.
    bool look() {
        pending_ = 0;
        const double now = seconds();
        if (now >= max_seconds_) timed_out_ = true;
        if (now - last_beat_ > 0.03) {
            last_beat_ = now;
            if (heartbeat_) heartbeat_(epoch_, now);
        }
        if (now >= thrown_at_) throw Ended{"max_time"};
        return timed_out_;
    }

private:
    static double steady() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    std::function<double()> clock_;
    double start_, elapsed_, max_seconds_, last_seconds_, last_beat_ = 0, epoch_ = 0;
    double thrown_at_ = std::numeric_limits<double>::infinity();
    std::function<void(double, double)> heartbeat_;
    std::size_t pending_ = 0;
    bool timed_out_ = false;
};

}  // namespace pegasos
