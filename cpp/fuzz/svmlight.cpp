// Hostile svmlight text against the reader (`make fuzz`): no byte outside the text is read, columns are
// within the number of features, and threads, the cut into blocks and the kind of source change nothing.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "text/hash.hpp"
#include "text/svmlight_parser.cpp"
#include "text/svmlight_reader.hpp"

using namespace pegasos::svmlight;

namespace {

/// Threads take a while to start. All runs have some where a sanitizer watches them.
#if __has_feature(thread_sanitizer)
constexpr bool few_threads = false;
#else
constexpr bool few_threads = true;
#endif

/// The text in a file without a name, always the same one, in memory.
int in_file(std::string_view text) {
    static const int file = memfd_create("text", 0);
    const auto size = static_cast<ssize_t>(text.size());
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, text.data(), text.size(), 0) != size)
        std::abort();
    return file;
}

/// The bytes of all arrays, or the message.
template <class T>
std::string outcome(std::string_view text, const ReadOptions& options, std::size_t threads,
                    std::size_t block_bytes, bool from_file) {
    Reader<T> reader(options, threads, block_bytes);
    try {
        if (from_file)
            reader.add(TextInFile(in_file(text), text.size()), {});
        else
            reader.add(TextInMemory(text), {});
    } catch (const ParseError& error) {
        return error.what();
    }
    const Table<T> table = reader.take();
    std::string result = std::to_string(table.n_features);
    const auto append = [&](const auto* data, std::size_t size) {
        if (size) result.append(reinterpret_cast<const char*>(data), size * sizeof *data);
    };
    append(table.values.data(), table.entries);
    append(table.labels.data(), table.n_labels);
    append(table.starts.data(), table.rows + 1);
    for (std::size_t k = 0; k < table.entries; ++k) {
        const std::int64_t column = table.is_wide ? table.wide_columns.data()[k] : table.columns.data()[k];
        if (column < 0 || column >= table.n_features) std::abort();
        result += std::to_string(column) + ',';
    }
    return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // Options follow from the text, so that all of a file of the corpus is text.
    std::minstd_rand random(static_cast<unsigned>(pegasos::Xxh3(0)(text)));
    const auto below = [&](std::size_t n) { return random() / 7 % n; };
    for (int k = 0; k < 3; ++k) {
        const ReadOptions options{static_cast<Base>(below(3)), below(3) ? -1 : 9, below(8) == 0,
                                  below(2) == 0};
        const bool single = below(2) == 0;
        const auto attempt = [&](std::size_t threads, bool from_file) {
            const std::size_t sizes[] = {1 + size / 16, 7 + size / 8, 1 << 18};
            const std::size_t block_bytes = sizes[below(3)];
            return single ? outcome<float>(text, options, threads, block_bytes, from_file)
                          : outcome<double>(text, options, threads, block_bytes, from_file);
        };
        const std::size_t threads = few_threads && below(256) ? 1 : 2 + below(2);
        if (attempt(1, false) != attempt(threads, below(2) == 0)) std::abort();
    }
    return 0;
}
