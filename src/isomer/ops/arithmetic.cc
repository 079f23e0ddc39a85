#include "isomer/ops/registry.h"

namespace isomer {

std::vector<OpDef> arithmetic_ops() { return {}; }

}  // namespace isomer
