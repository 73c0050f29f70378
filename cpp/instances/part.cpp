#include "part_instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE_PART(DenseRows<float>)
PEGASOS_INSTANTIATE_PART(DenseRows<double>)
PEGASOS_INSTANTIATE_PART(CsrRows<float, std::int32_t>)
PEGASOS_INSTANTIATE_PART(CsrRows<double, std::int32_t>)
PEGASOS_INSTANTIATE_PART(CsrRows<float, std::int64_t>)
PEGASOS_INSTANTIATE_PART(CsrRows<double, std::int64_t>)
}  // namespace pegasos
