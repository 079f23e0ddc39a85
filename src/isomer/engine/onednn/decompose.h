#pragma once
// Decomposes operators that oneDNN lacks into several that it has.

#include <optional>

#include "isomer/ir/builder.h"

namespace isomer::onednn {

/// Adds nodes that compute the same as a node over these operands; returns nothing if the node should stay. Gemms
/// become products, views and element-wise operators, unless they are products by weights plus a row. Group
/// normalizations become instance normalizations of groups; DepthToSpace and SpaceToDepth become transpositions. An
/// Einsum of two operands becomes a product of matrices, unless a label is repeated in an operand or summed in only
/// one.
Result<std::optional<ValueId>> decompose(GraphBuilder& builder, const Node& node, std::span<const ValueId> operands);

}  // namespace isomer::onednn
