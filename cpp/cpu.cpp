// Tells which builds of the core this processor can run, best first.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace {

std::vector<std::string> levels() {
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

}  // namespace

NB_MODULE(cpu, m) { m.def("levels", &levels, "Builds of the core that this processor can run, best first."); }
