#include "instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE(CsrRows<float, std::int32_t>)
PEGASOS_INSTANTIATE(CsrRows<double, std::int32_t>)
}  // namespace pegasos
