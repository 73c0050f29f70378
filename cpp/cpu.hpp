// Which builds of the core a processor can run. CMake asks when it builds for this processor alone, and
// Python when it chooses a build at import.
#pragma once

#include <string>
#include <vector>

namespace pegasos {

/// Builds that this processor can run, best first.
inline std::vector<std::string> levels() {
    std::vector<std::string> runs;
#if defined(__x86_64__)
    __builtin_cpu_init();
#if defined(__clang__)  // Version 16 has no names for levels; what it has no name for comes along with these.
    const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
#else
    const bool v2 = __builtin_cpu_supports("x86-64-v2"), v3 = __builtin_cpu_supports("x86-64-v3"),
               v4 = __builtin_cpu_supports("x86-64-v4");
#endif
    if (v4) runs.emplace_back("v4");
    if (v3) runs.emplace_back("v3");
    if (v2) runs.emplace_back("v2");
#endif
    runs.emplace_back("plain");
    return runs;
}

}  // namespace pegasos
