#pragma once
// Operators that oneDNN lacks, as several that it has.

#include <optional>

#include "isomer/ir/builder.h"

namespace isomer::onednn {

/// Adds what a node over these operands computes; nothing where the node shall stay. Gemms are products, views and
/// element-wise operators, unless they are products by weights and a row; group normalizations are instance
/// normalizations of groups; DepthToSpace and SpaceToDepth are transpositions; an Einsum of two operands is a product
/// of matrices where no label stands twice in an operand or is summed in one of them alone.
Result<std::optional<ValueId>> take_apart(GraphBuilder& builder, const Node& node, std::span<const ValueId> operands);

}  // namespace isomer::onednn
