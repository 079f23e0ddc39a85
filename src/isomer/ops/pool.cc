#include "isomer/ops/registry.h"

namespace isomer {

std::vector<OpDef> pool_ops() { return {}; }

}  // namespace isomer
