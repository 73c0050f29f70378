// Sequences of Python's strings and dictionaries, as rows of numbers.
//
// A position is a collection of strings, or a dictionary from names to values: a number is the value of the
// feature `name`, true and false are 1 and 0, a string stands for the feature `name:string` of value 1, and a
// collection or dictionary for what it holds, with `name:` before each.
#include "text/features.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "run.hpp"

namespace {

class Vectorizer {
public:
    /// Numbers of the vocabulary, to which new features are added where it `grows` and otherwise left out;
    /// with `hash_bits` above zero, so many bits of the hash.
    Vectorizer(Vocabulary& vocabulary, unsigned hash_bits, bool grows)
        : vocabulary_(vocabulary),
          hash_(hash_bits > 0 ? Xxh3(0) : vocabulary.hash()),
          mask_((std::uint64_t{1} << hash_bits) - 1),
          hashes_(hash_bits > 0),
          grows_(grows) {}

    Features run(nb::handle sequences) {
        for_each(sequences, "X must be a list of sequences", [&](nb::handle sequence) {
            position_ = 0;
            refuse_text(sequence, "a sequence must be a list of positions");
            for_each(sequence, "a sequence must be a list of positions", [&](nb::handle position) {
                add_position(position);
                ++position_;
            });
            out_.starts.push_back(out_.row_starts.size() - 1);
            if (++sequence_ % 64 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
        });
        return std::move(out_);
    }

private:
    struct Found {
        std::uint64_t hash;
        const char* text;  // null: in `joined_`, from `start` on
        std::size_t start, length;
        double value;
    };

    std::string where() const {
        return "X[" + std::to_string(sequence_) + "][" + std::to_string(position_) + "]";
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw nb::type_error((where() + " " + what).c_str());
    }

    static std::string shown(nb::handle object) { return nb::cast<std::string>(nb::repr(object)); }
    static std::string type_of(nb::handle object) {
        return nb::cast<std::string>(object.type().attr("__name__"));
    }

    void refuse_text(nb::handle object, const char* rule) const {
        if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()))
            throw nb::type_error(("X[" + std::to_string(sequence_) + "] is a string; " + rule).c_str());
    }

    template <class F>
    void for_each(nb::handle collection, const char* rule, F f) {
        PyObject* object = collection.ptr();
        if (PyList_Check(object) || PyTuple_Check(object)) {
            const bool list = PyList_Check(object);
            const nb::ft_object_guard guard(collection);
            // Its true length, each time: a class may tell another one, and the user's code may change it.
            for (Py_ssize_t k = 0; k < (list ? PyList_Size(object) : PyTuple_Size(object)); ++k)
                f(nb::borrow(list ? PyList_GetItem(object, k) : PyTuple_GetItem(object, k)));
            return;
        }
        keep_found();
        nb::object iterator = nb::steal(PyObject_GetIter(object));
        if (!iterator.is_valid()) {
            PyErr_Clear();
            throw nb::type_error(
                ("X[" + std::to_string(sequence_) + "]: " + rule + ", not " + type_of(collection)).c_str());
        }
        while (PyObject* next = PyIter_Next(iterator.ptr())) {
            nb::object item = nb::steal(next);
            f(item);
        }
        if (PyErr_Occurred()) throw nb::python_error();
    }

    /// Code of the user's is about to run, which may free strings: copy those found.
    void keep_found() {
        for (; kept_count_ < found_.size(); ++kept_count_) {
            Found& one = found_[kept_count_];
            if (!one.text) continue;
            one.start = joined_.size();
            joined_.append(std::exchange(one.text, nullptr), one.length);
        }
    }

    std::string_view utf8(nb::handle text) const {
        Py_ssize_t length = 0;
        const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
        if (!data) {
            PyErr_Clear();
            throw nb::value_error(
                (where() + " has the string " + shown(text) +
                 ", which is no valid text: half of a surrogate pair; decode it with errors='replace'")
                    .c_str());
        }
        return {data, static_cast<std::size_t>(length)};
    }

    void add_position(nb::handle position) {
        found_.clear();
        joined_.clear();
        kept_.clear();
        kept_count_ = 0;
        if (PyUnicode_Check(position.ptr()) || PyBytes_Check(position.ptr()))
            fail("is a string; a position must be a list of strings, or a dictionary");
        if (PyDict_Check(position.ptr()))
            add_dictionary(position, {}, 0);
        else
            add_strings(position, {});
        if (!hashes_) {
            for (const Found& one : found_) vocabulary_.prefetch_slot(one.hash);
            for (const Found& one : found_) vocabulary_.prefetch_end(one.hash);
            for (const Found& one : found_) vocabulary_.prefetch_text(one.hash);
        }
        for (const Found& one : found_) {
            if (one.value == 0) continue;
            const std::string_view text(one.text ? one.text : joined_.data() + one.start, one.length);
            std::uint64_t number = one.hash & mask_;
            if (!hashes_) {
                number = grows_ ? vocabulary_.find_or_add(text, one.hash) : vocabulary_.find(text, one.hash);
                if (number == Vocabulary::unknown) continue;
            }
            out_.add(static_cast<std::int32_t>(number), one.value);
        }
        out_.row_starts.push_back(static_cast<std::int64_t>(out_.columns.size()));
    }

    void add(std::string_view text, const std::string& prefix, double value) {
        if (prefix.empty()) return found_.push_back({hash_(text), text.data(), 0, text.size(), value});
        const std::size_t start = joined_.size();
        joined_ += prefix;
        joined_ += text;
        const std::size_t length = joined_.size() - start;
        found_.push_back({hash_({joined_.data() + start, length}), nullptr, start, length, value});
    }

    void add_strings(nb::handle strings, const std::string& prefix) {
        const bool owned = PyList_Check(strings.ptr()) || PyTuple_Check(strings.ptr());
        if (PyList_Check(strings.ptr())) {  // strings are anywhere in memory: ask for all of them at a time
            const nb::ft_object_guard guard(strings);
            for (Py_ssize_t k = 0; k < PyList_Size(strings.ptr()); ++k) {
                const char* text = reinterpret_cast<const char*>(PyList_GetItem(strings.ptr(), k));
                __builtin_prefetch(text);
                __builtin_prefetch(text + 64);
            }
        }
        for_each(strings, "a position must be a list of strings, or a dictionary", [&](nb::handle text) {
            if (!PyUnicode_Check(text.ptr()))
                fail(
                    "holds " + shown(text) + " of type " + type_of(text) +
                    "; a list of features holds strings; for numbers give a dictionary from names to values");
            if (!owned) kept_.push_back(nb::borrow(text));
            add(utf8(text), prefix, 1);
        });
    }

    void add_dictionary(nb::handle dictionary, const std::string& prefix, int depth) {
        if (depth > 20) fail("has dictionaries within dictionaries more than 20 deep");
        PyObject *next_key, *next_value;
        const nb::ft_object_guard guard(dictionary);
        const Py_ssize_t size = PyDict_Size(dictionary.ptr());
        for (Py_ssize_t at = 0; PyDict_Next(dictionary.ptr(), &at, &next_key, &next_value);) {
            const nb::object held_key = nb::borrow(next_key), held_value = nb::borrow(next_value);
            PyObject *const key = held_key.ptr(), *const value = held_value.ptr();
            if (!PyUnicode_Check(key))
                fail("has the key " + shown(key) + " of type " + type_of(key) +
                     "; names of features are strings");
            const std::string_view name = utf8(key);
            if (PyBool_Check(value)) {
                add(name, prefix, value == Py_True);
            } else if (PyUnicode_Check(value)) {
                add(utf8(value), prefix + std::string(name) + ":", 1);
            } else if (PyDict_Check(value)) {
                add_dictionary(value, prefix + std::string(name) + ":", depth + 1);
            } else if (PyList_Check(value) || PyTuple_Check(value) || PyAnySet_Check(value)) {
                add_strings(value, prefix + std::string(name) + ":");
            } else {
                const bool foreign = !PyFloat_CheckExact(value) && !PyLong_CheckExact(value);
                if (foreign) keep_found();
                const double number = PyFloat_AsDouble(value);
                if (number == -1 && PyErr_Occurred()) {
                    PyErr_Clear();
                    fail("has " + shown(key) + ": " + shown(value) + " of type " + type_of(value) +
                         "; values are numbers, strings, or collections of strings");
                }
                if (!std::isfinite(number))
                    throw nb::value_error(
                        (where() + " has " + shown(key) + ": " + shown(value) + "; values must be finite")
                            .c_str());
                add(name, prefix, number);
                if (foreign) keep_found();  // the name, which the dictionary may have lost
            }
            if (PyDict_Size(dictionary.ptr()) != size) {
                PyErr_SetString(PyExc_RuntimeError, "a dictionary of X changed its size while it was read");
                throw nb::python_error();
            }
        }
    }

    Vocabulary& vocabulary_;
    const Xxh3 hash_;
    const std::uint64_t mask_;
    const bool hashes_, grows_;
    Features out_;
    std::vector<Found> found_;
    std::vector<nb::object> kept_;  // strings that nothing else holds
    std::size_t kept_count_ = 0;    // of those found, that are copied or need not be
    std::string joined_;
    std::size_t sequence_ = 0, position_ = 0;
};

/// Starts of the sequences and of the rows, columns and values of the entries.
nb::tuple vectorize(nb::handle sequences, Vocabulary& vocabulary, unsigned hash_bits, bool grow,
                    std::size_t min_count) {
    if (hash_bits > 31) throw std::invalid_argument("hash_bits must be at most 31");
    Features features = Vectorizer(vocabulary, hash_bits, grow).run(sequences);
    if (grow && hash_bits == 0 && min_count > 1) features.drop_rare(vocabulary, min_count);
    return nb::make_tuple(to_numpy(std::move(features.starts)), to_numpy(std::move(features.row_starts)),
                          to_numpy(std::move(features.columns)),
                          features.precise.empty() ? nb::cast(to_numpy(std::move(features.values)))
                                                   : nb::cast(to_numpy(std::move(features.precise))));
}

/// The texts one after the other, and where each ends.
auto to_arrays(const Vocabulary& vocabulary) {
    return std::make_pair(to_numpy(vocabulary.characters()), to_numpy(vocabulary.ends()));
}

using Arrays = std::pair<Vector<std::uint8_t>, Vector<std::int64_t>>;

void from_arrays(Vocabulary* self, const Vector<std::uint8_t>& characters, const Vector<std::int64_t>& ends) {
    new (self) Vocabulary({reinterpret_cast<const char*>(characters.data()), characters.shape(0)},
                          {ends.data(), ends.shape(0)});
}

}  // namespace

void bind_features(nb::module_& m) {
    nb::class_<Vocabulary>(m, "Vocabulary", "Numbers for strings.")
        .def(nb::init<>())
        .def(nb::init<std::uint64_t>(), "seed"_a)
        .def("__init__", &from_arrays, "characters"_a, "ends"_a)
        .def("__len__", &Vocabulary::size, nb::lock_self())
        .def(
            "__getitem__",
            [](const Vocabulary& self, std::size_t number) {
                if (number >= self.size()) throw nb::index_error();
                const std::string_view text = self.text(number);
                return nb::steal<nb::str>(
                    PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
            },
            nb::lock_self())
        .def("arrays", &to_arrays, nb::lock_self())
        .def("__getstate__", &to_arrays, nb::lock_self())
        .def("__setstate__",
             [](Vocabulary& self, const Arrays& arrays) { from_arrays(&self, arrays.first, arrays.second); });
    m.def(
        "xxh3", [](nb::bytes text, std::uint64_t seed) { return Xxh3(seed)({text.c_str(), text.size()}); },
        "text"_a, "seed"_a = 0, "The hash of features, and with another seed of tables.");
    m.def("vectorize", &vectorize, "sequences"_a, "vocabulary"_a.lock(), "hash_bits"_a, "grow"_a,
          "min_count"_a);
}
