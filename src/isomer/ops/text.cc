#include "isomer/ops/registry.h"

namespace isomer {
std::vector<OpDef> text_ops() { return {}; }
}  // namespace isomer
