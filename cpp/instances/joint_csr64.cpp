#include "joint_instances.hpp"

namespace pegasos {
PEGASOS_INSTANTIATE_JOINT(CsrRows<float, std::int64_t>)
PEGASOS_INSTANTIATE_JOINT(CsrRows<double, std::int64_t>)
}  // namespace pegasos
