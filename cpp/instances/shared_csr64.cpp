#include "shared_instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE_SHARED(CsrRows<float, std::int64_t>)
PEGASOS_INSTANTIATE_SHARED(CsrRows<double, std::int64_t>)
}  // namespace pegasos
