#include "instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE(DenseRows<float>)
PEGASOS_INSTANTIATE(DenseRows<double>)
}  // namespace pegasos
