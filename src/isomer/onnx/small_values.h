#pragma once
// Arithmetic on small constants, such as shapes.

#include <optional>
#include <span>
#include <vector>

#include "isomer/ir/op.h"

namespace isomer {

/// The results of a node for known operands, if all tensors are small and consist of integers, bools or floats. Returns
/// nullopt otherwise, and if the operator has no kernel.
std::optional<std::vector<Tensor>> evaluate_small(const OpDef& op, const Attrs& attrs, std::vector<Tensor> operands,
                                                  std::span<const TensorType> types);

}  // namespace isomer
