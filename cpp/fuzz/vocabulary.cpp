// Hostile tables of strings, as model files have them, against the vocabulary (`make fuzz`): it is refused,
// or each of its strings is found where it was put.
#include "text/vocabulary.hpp"

#include <cstdlib>
#include <cstring>

using namespace pegasos;

/// A byte with the number of strings, where each of them ends (eight bytes), and then the characters.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::size_t count = size == 0 ? 0 : data[0];
    if (size < 1 + 8 * count) return 0;
    std::vector<std::int64_t> ends(count);
    if (count > 0) std::memcpy(ends.data(), data + 1, 8 * count);
    const std::vector<char> characters(data + 1 + 8 * count,
                                       data + size);  // whose ends the sanitizer watches
    try {
        const Vocabulary vocabulary({characters.data(), characters.size()}, ends);
        if (vocabulary.size() != count || vocabulary.ends() != ends) std::abort();
        for (std::size_t number = 0; number < count; ++number) {
            const std::string_view text = vocabulary.text(number);
            if (vocabulary.find(text, vocabulary.hash()(text)) != number) std::abort();
        }
    } catch (const std::invalid_argument&) {
    }
    return 0;
}
