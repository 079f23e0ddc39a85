#pragma once
// Type inference of a node, with all that is checked besides.

#include "isomer/ir/op.h"

namespace isomer {

/// The result types of an operator with complete attributes over operands of these types (null: absent). Fails where
/// the numbers of operands or results are wrong, an operand is missing or of unknown type, the node is ill typed, or a
/// result is too large to address.
Result<std::vector<TensorType>> infer_node(const OpDef& op, const Attrs& attrs,
                                           std::span<const TensorType* const> operands, size_t num_results);

}  // namespace isomer
