#include "joint_instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE_JOINT(DenseRows<float>)
PEGASOS_INSTANTIATE_JOINT(DenseRows<double>)
}  // namespace pegasos
