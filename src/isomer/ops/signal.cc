#include "isomer/ops/registry.h"

namespace isomer {

std::vector<OpDef> signal_ops() { return {}; }

}  // namespace isomer
