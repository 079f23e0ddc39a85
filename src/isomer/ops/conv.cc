#include "isomer/ops/registry.h"

namespace isomer {

std::vector<OpDef> conv_ops() { return {}; }

}  // namespace isomer
