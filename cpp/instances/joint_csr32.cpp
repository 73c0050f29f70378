#include "joint_instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE_JOINT(CsrRows<float, std::int32_t>)
PEGASOS_INSTANTIATE_JOINT(CsrRows<double, std::int32_t>)
}  // namespace pegasos
