#include "text/svmlight_parser.hpp"

namespace pegasos::svmlight {

template <class T>
void parse_block(const ReadOptions& options, std::string_view text, const char* limit, Block<T>& block) {
    try {
        Parser<T, std::int32_t>(options, text, limit, block).run();
    } catch (const ColumnTooWide&) {
        Parser<T, std::int64_t>(options, text, limit, block).run();
    }
}

template void parse_block<float>(const ReadOptions&, std::string_view, const char*, Block<float>&);
template void parse_block<double>(const ReadOptions&, std::string_view, const char*, Block<double>&);

}  // namespace pegasos::svmlight
