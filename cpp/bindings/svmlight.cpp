// The svmlight reader and writer: bytes in, arrays out, and back.
#include "svmlight.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace pegasos;

namespace {

template <class To, class From>
nb::object converted(std::vector<From> vector) {
    if constexpr (std::is_same_v<To, From>)
        return nb::cast(to_numpy(std::move(vector)));
    else
        return nb::cast(to_numpy(std::vector<To>(vector.begin(), vector.end())));
}

/// (labels, values, columns, row starts, n_features). SciPy wants one type for columns and row starts.
template <class T>
nb::tuple parse(const nb::bytes& text, bool zero_based, std::int64_t n_features) {
    svmlight::Table<T> table;
    {
        const auto poll = [] {
            nb::gil_scoped_acquire gil;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
        };
        const std::string_view view(text.c_str(), text.size());
        nb::gil_scoped_release release;
        table = svmlight::parse<T>(view, {zero_based, n_features, poll});
    }
    const bool small = table.values.size() <= std::numeric_limits<std::int32_t>::max();
    auto columns = small ? converted<std::int32_t>(std::move(table.columns))
                         : converted<std::int64_t>(std::move(table.columns));
    auto starts = small ? converted<std::int32_t>(std::move(table.starts))
                        : converted<std::int64_t>(std::move(table.starts));
    return nb::make_tuple(to_numpy(std::move(table.labels)), to_numpy(std::move(table.values)), columns,
                          starts, table.n_features);
}

template <class T, class Index>
nb::bytes format(const Vector<double>& labels, const Vector<T>& values, const Vector<Index>& columns,
                 const Vector<Index>& starts, bool zero_based) {
    std::string text;
    {
        const auto span = []<class E>(const Vector<E>& array) {
            return std::span<const E>(array.data(), array.shape(0));
        };
        nb::gil_scoped_release release;
        text =
            svmlight::format<T, Index>(span(labels), span(values), span(columns), span(starts), zero_based);
    }
    return nb::bytes(text.data(), text.size());
}

}  // namespace

void bind_svmlight(nb::module_& m) {
    m.def("parse_svmlight_float32", &parse<float>, "text"_a, "zero_based"_a, "n_features"_a);
    m.def("parse_svmlight_float64", &parse<double>, "text"_a, "zero_based"_a, "n_features"_a);
    const auto def_format = [&]<class T, class Index>(T, Index) {
        m.def("format_svmlight", &format<T, Index>, "labels"_a.noconvert(), "values"_a.noconvert(),
              "columns"_a.noconvert(), "starts"_a.noconvert(), "zero_based"_a);
    };
    def_format(float{}, std::int32_t{});
    def_format(double{}, std::int32_t{});
    def_format(float{}, std::int64_t{});
    def_format(double{}, std::int64_t{});
}
