#include "isomer/ops/registry.h"

namespace isomer {

std::vector<OpDef> recurrent_ops() { return {}; }

}  // namespace isomer
