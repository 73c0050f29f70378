#include "shared_instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE_SHARED(DenseRows<float>)
PEGASOS_INSTANTIATE_SHARED(DenseRows<double>)
}  // namespace pegasos
