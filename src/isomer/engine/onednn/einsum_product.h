#pragma once
// An Einsum of two operands as a product of matrices.

#include <optional>

#include "isomer/ir/builder.h"

namespace isomer::onednn {

/// The product with what is around it; nothing where extents are not known, a label stands twice in an operand, is
/// repeated, or is summed in one operand alone.
Result<std::optional<ValueId>> einsum_product(GraphBuilder& builder, const Node& node,
                                              std::span<const ValueId> operands);

}  // namespace isomer::onednn
