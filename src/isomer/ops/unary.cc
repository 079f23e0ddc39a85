#include "isomer/ops/registry.h"

namespace isomer {

std::vector<OpDef> unary_ops() { return {}; }

}  // namespace isomer
