#pragma once
// Facts about an operand that are known before inference; the checker uses them to avoid useless trials.

#include <optional>
#include <span>
#include <vector>

#include "isomer/ir/op.h"

namespace isomer {

/// Returns the element type that operand `index` always has, if it differs from that of the others.
std::optional<DType> fixed_operand_dtype(const OpDef& op, size_t index);

/// Returns whether operand `index` holds positions along an axis of the first operand.
bool holds_indices(const OpDef& op, size_t index);

/// Returns whether an attribute of the operator must divide an extent: a number of groups, the size of a block.
bool divides_extents(const OpDef& op);

/// Returns the only shapes that operand `index` can have after `earlier` operands (nullptr: absent), of ranks up to
/// `max_rank` and with these extents; nothing if any shape is possible. Inference still decides.
std::optional<std::vector<Ints>> possible_shapes(const OpDef& op, size_t index,
                                                 std::span<const TensorType* const> earlier, size_t max_rank,
                                                 const Ints& extents);

}  // namespace isomer
