#pragma once
// Type inference of a node with all checks.

#include "isomer/ir/op.h"

namespace isomer {

/// The result types of an operator with complete attributes for these operand types (nullptr: absent). Fails if the
/// number of operands or results is wrong, an operand is missing or its type is not known, the node is ill typed, or a
/// result is too large to address.
Result<std::vector<TensorType>> infer_node(const OpDef& op, const Attrs& attrs,
                                           std::span<const TensorType* const> operands, size_t num_results);

}  // namespace isomer
