#include "svmlight.hpp"

namespace pegasos::svmlight {
template Table<float> parse<float>(std::string_view, const ReadOptions&);
template Table<double> parse<double>(std::string_view, const ReadOptions&);
}  // namespace pegasos::svmlight
