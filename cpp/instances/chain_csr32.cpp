#include "chain_instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE_CHAIN(CsrRows<float, std::int32_t>)
PEGASOS_INSTANTIATE_CHAIN(CsrRows<double, std::int32_t>)
}  // namespace pegasos
