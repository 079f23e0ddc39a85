#pragma once
// Result types of each operator if a parameter is computed at run time.

#include "isomer/onnx/dynamic_types.h"

namespace isomer {

/// As dynamic_types, for nodes that cannot be normalized. Empty for operators that have no such parameter.
std::vector<PartialType> type_by_rule(const GraphBuilder& builder, const ShapeValues& shapes, const OnnxForm& form);

}  // namespace isomer
