// Tells Python which builds of the core this processor can run.
#include "cpu.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

NB_MODULE(cpu, m) {
    m.def("levels", &pegasos::levels, "Builds of the core that this processor can run, best first.");
}
