// Hostile text in Vowpal Wabbit's format against the parser (`make fuzz`): no byte outside the text is read,
// arrays fit together, and lines mean the same whatever lines stand before them.
#include "text/text.cpp"

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

using namespace pegasos;

namespace {

void check(bool holds) {
    if (!holds) std::abort();
}

/// Adds what some lines mean to the bytes; whether they do.
bool add(std::string_view text, const text::Options& options, text::Table& all) {
    const std::vector<char> exact(text.begin(), text.end());  // whose ends the sanitizer watches
    text::Table table;
    try {
        table = text::parse({exact.data(), exact.size()}, options);
    } catch (const svmlight::ParseError&) {
        return false;
    }
    check(table.columns.size() == table.values.size());
    check(table.starts.size() == table.labels.size() + 1 && table.weights.size() == table.labels.size());
    check(static_cast<std::size_t>(table.starts.back()) == table.columns.size());
    for (const std::int32_t column : table.columns) check(column >= 0 && column >> options.bits == 0);
    for (const float value : table.values) check(std::isfinite(value));
    for (const double weight : table.weights) check(weight >= 0);
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(all.labels, table.labels);
    append(all.weights, table.weights);
    append(all.columns, table.columns);
    append(all.values, table.values);
    return true;
}

bool is_same(const std::vector<double>& one, const std::vector<double>& other) {
    return one.size() == other.size() &&
           (one.empty() || std::memcmp(one.data(), other.data(), one.size() * sizeof one[0]) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text = std::string(reinterpret_cast<const char*>(data), size) + '\n';
    std::minstd_rand random(static_cast<unsigned>(Xxh3(0)(text)));  // options follow from the text
    const text::Options options{static_cast<int>(1 + random() / 7 % 28), random() / 7 % 2 == 0, {}};
    const std::size_t cut = text.find('\n', random() / 7 % text.size()) + 1;
    text::Table whole, parts;
    const bool is_read = add(text, options, whole);
    check(is_read == (add(std::string_view(text).substr(0, cut), options, parts) &&
                      add(std::string_view(text).substr(cut), options, parts)));
    if (is_read)
        check(is_same(whole.labels, parts.labels) && is_same(whole.weights, parts.weights) &&
              whole.columns == parts.columns && whole.values == parts.values);
    return 0;
}
