// Suffix averaging: the mean of w_{s+1}, ..., w_T, s the largest power of two with 2 s <= T. So at any time
// the last half to three quarters of the iterates count, and O(size) work is done only when T doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/state.hpp"

namespace pegasos {

struct Snapshot {
    std::uint64_t steps;
    std::vector<double> sum;  // of the iterates up to there

    void state(State& state) { state(steps, sum); }
};

struct Suffix {
    std::vector<Snapshot> snapshots;  // the last two
    std::uint64_t next = 1;           // after so many steps there is another

    void state(State& state) { state(snapshots, next); }

    void take(std::uint64_t steps, std::vector<double> sum) {
        if (snapshots.size() == 2) snapshots.erase(snapshots.begin());
        snapshots.push_back({steps, std::move(sum)});
        next *= 2;
    }

    /// The mean, from the sum of all iterates; of all of them where nothing was taken.
    std::vector<double> mean(std::vector<double> sum, std::uint64_t steps) const {
        const Snapshot* from = nullptr;
        for (const auto& snapshot : snapshots)
            if (snapshot.steps * 2 <= steps) from = &snapshot;
        const double count = static_cast<double>(steps - (from ? from->steps : 0));
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] = (sum[j] - (from ? from->sum[j] : 0)) / count;
        return sum;
    }
};

}  // namespace pegasos
