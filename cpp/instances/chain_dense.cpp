#include "chain_instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE_CHAIN(DenseRows<float>)
PEGASOS_INSTANTIATE_CHAIN(DenseRows<double>)
}  // namespace pegasos
