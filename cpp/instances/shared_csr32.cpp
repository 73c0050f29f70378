#include "shared_instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE_SHARED(CsrRows<float, std::int32_t>)
PEGASOS_INSTANTIATE_SHARED(CsrRows<double, std::int32_t>)
}  // namespace pegasos
