#pragma once
// Arithmetic on small constants, such as models do on shapes.

#include <optional>
#include <span>
#include <vector>

#include "isomer/ir/op.h"

namespace isomer {

/// What a node computes from known operands, where all tensors are small and of integers, bools or floats; nothing
/// where they are not, or the operator has no kernel.
std::optional<std::vector<Tensor>> evaluate_small(const OpDef& op, const Attrs& attrs, std::vector<Tensor> operands,
                                                  std::span<const TensorType> types);

}  // namespace isomer
