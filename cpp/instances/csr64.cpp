#include "instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE(CsrRows<float, std::int64_t>)
PEGASOS_INSTANTIATE(CsrRows<double, std::int64_t>)
}  // namespace pegasos
