#include "text/text.hpp"

namespace pegasos::text {
Table parse(std::string_view text, const Options& options) {
    if (text.empty()) return {};
    if (text.back() != '\n') throw std::invalid_argument("the text must end with a newline");
    return Parser(text, options).run();
}
}  // namespace pegasos::text
