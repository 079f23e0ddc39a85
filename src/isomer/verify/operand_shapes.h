#pragma once
// What is known about an operand of an operator before inference: it keeps the checker from trying in vain.

#include <optional>
#include <span>
#include <vector>

#include "isomer/ir/op.h"

namespace isomer {

/// The element type that operand `index` always has, when it is not that of the others.
std::optional<DType> fixed_operand_dtype(const OpDef& op, size_t index);

/// Whether operand `index` holds positions along an axis of the first operand.
bool holds_indices(const OpDef& op, size_t index);

/// Whether the operands broadcast to one shape.
bool broadcasts(const OpDef& op);

/// Whether an attribute of the operator must divide an extent: a number of groups, the size of a block.
bool divides_extents(const OpDef& op);

/// The only shapes that operand `index` can have behind `earlier` operands (null: absent), of ranks up to `max_rank`
/// and of these extents; nothing when any shape may do. Inference has the last word.
std::optional<std::vector<Ints>> possible_shapes(const OpDef& op, size_t index,
                                                 std::span<const TensorType* const> earlier, size_t max_rank,
                                                 const Ints& extents);

}  // namespace isomer
