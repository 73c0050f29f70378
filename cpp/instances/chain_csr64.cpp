#include "chain_instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE_CHAIN(CsrRows<float, std::int64_t>)
PEGASOS_INSTANTIATE_CHAIN(CsrRows<double, std::int64_t>)
}  // namespace pegasos
