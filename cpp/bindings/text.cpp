// The readers of text, and the svmlight writer: bytes in, arrays out, and back.
#include "text/text.hpp"

#include "run.hpp"
#include "text/svmlight_reader.hpp"
#include "text/svmlight_writer.hpp"

namespace {

using Bytes = Vector<std::uint8_t>;

void poll() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

template <class T>
void add_bytes(svmlight::Reader<T>& reader, const Bytes& bytes) {
    const svmlight::TextInMemory text({reinterpret_cast<const char*>(bytes.data()), bytes.shape(0)});
    nb::gil_scoped_release release;
    reader.add(text, poll);
}

template <class T>
void add_file(svmlight::Reader<T>& reader, int file, std::size_t size) {
    const svmlight::TextInFile text(file, size);
    nb::gil_scoped_release release;
    reader.add(text, poll);
}

/// (labels, ends of labels, query ids, values, columns, row starts, n_features); None for what was not asked.
template <class T>
nb::tuple take(svmlight::Reader<T>& reader, bool multilabel, bool query_id) {
    svmlight::Table<T> table;
    GrowingArray<std::int32_t> narrow_starts;
    {
        nb::gil_scoped_release release;
        table = reader.take();
        if (!table.is_wide) narrow_starts = table.narrow_starts();
    }
    return nb::make_tuple(
        released(table.labels, table.n_labels),
        multilabel ? released(table.label_ends, table.rows) : nb::none(),
        query_id ? released(table.qids, table.rows) : nb::none(), released(table.values, table.entries),
        table.is_wide ? released(table.wide_columns, table.entries) : released(table.columns, table.entries),
        table.is_wide ? released(table.starts, table.rows + 1) : released(narrow_starts, table.rows + 1),
        table.n_features);
}

template <class T>
void bind_reader(nb::module_& m, const char* name) {
    using Reader = svmlight::Reader<T>;
    nb::class_<Reader>(m, name)
        .def(
            "__init__",
            [](Reader* self, std::optional<bool> zero_based, std::int64_t n_features, bool query_id,
               bool multilabel, std::size_t threads, std::size_t block_bytes) {
                using svmlight::Base;
                const Base base = !zero_based ? Base::detect : *zero_based ? Base::zero : Base::one;
                new (self) Reader({base, n_features, query_id, multilabel}, threads, block_bytes);
            },
            "zero_based"_a.none(), "n_features"_a, "query_id"_a, "multilabel"_a, "threads"_a, "block_bytes"_a)
        .def("add_bytes", &add_bytes<T>, "text"_a, nb::lock_self())
        .def("add_file", &add_file<T>, "file"_a, "size"_a, nb::lock_self())
        .def("take", &take<T>, "multilabel"_a, "query_id"_a, nb::lock_self());
}

template <class T, class Index>
nb::bytes format(const Vector<double>& labels, const Vector<std::int64_t>& label_starts,
                 const Vector<std::int64_t>& qids, const Vector<T>& values, const Vector<Index>& columns,
                 const Vector<Index>& starts, bool zero_based) {
    std::string text;
    {
        nb::gil_scoped_release release;
        text = svmlight::format<T, Index>({span_of(labels), span_of(label_starts), span_of(qids),
                                           span_of(values), span_of(columns), span_of(starts), zero_based});
    }
    return nb::bytes(text.data(), text.size());
}

/// (labels, weights, values, columns, row starts, lines).
nb::tuple parse_text(const Vector<std::uint8_t>& bytes, int hash_bits, bool normalize) {
    text::Table table;
    {
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
    bind_reader<float>(m, "SvmlightReaderFloat32");
    bind_reader<double>(m, "SvmlightReaderFloat64");
    const auto def_format = [&]<class T, class Index>(T, Index) {
        m.def("format_svmlight", &format<T, Index>, "labels"_a.noconvert(), "label_starts"_a.noconvert(),
              "qids"_a.noconvert(), "values"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(),
              "zero_based"_a);
    };
    def_format(float{}, std::int32_t{});
    def_format(double{}, std::int32_t{});
    def_format(float{}, std::int64_t{});
    def_format(double{}, std::int64_t{});
}
