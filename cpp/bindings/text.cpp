// The reader of text features: bytes in, arrays out.
#include "text/text.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace pegasos;

namespace {

/// (labels, weights, values, columns, row starts, lines).
nb::tuple parse_text(const Vector<std::uint8_t>& bytes, int hash_bits, bool normalize) {
    text::Table table;
    {
        const auto poll = [] {
            nb::gil_scoped_acquire gil;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
        };
        const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.shape(0));
        nb::gil_scoped_release release;
        table = text::parse(view, {hash_bits, normalize, poll});
    }
    return nb::make_tuple(to_numpy(std::move(table.labels)), to_numpy(std::move(table.weights)),
                          to_numpy(std::move(table.values)), to_numpy(std::move(table.columns)),
                          to_numpy(std::move(table.starts)), table.lines);
}

}  // namespace

void bind_text(nb::module_& m) {
    m.def("parse_text", &parse_text, "text"_a, "hash_bits"_a, "normalize"_a,
          "Lines in Vowpal Wabbit's format, each ended by a newline, to hashed features.");
}
