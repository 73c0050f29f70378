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
    if (__builtin_cpu_supports("x86-64-v4")) runs.emplace_back("v4");
    if (__builtin_cpu_supports("x86-64-v3")) runs.emplace_back("v3");
    if (__builtin_cpu_supports("x86-64-v2")) runs.emplace_back("v2");
#else
    runs.emplace_back("plain");
#endif
    return runs;
}

}  // namespace pegasos
