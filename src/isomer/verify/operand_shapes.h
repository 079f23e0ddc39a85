#pragma once
// What is known about an operand of an operator before inference: it keeps the checker from trying in vain.

#include <optional>
#include <span>
#include <vector>

#include "isomer/ir/op.h"

namespace isomer {

/// The element type that operand `index` always has, when it is not that of the others.
std::optional<DType> fixed_operand_dtype(const OpDef& op, size_t index);

/// The only shapes that operand `index` can have behind `earlier` operands (null: absent), ranks at most `max_rank` and
/// extents at most `max_extent`; nothing when any shape may do. Inference has the last word.
std::optional<std::vector<Ints>> possible_shapes(const OpDef& op, size_t index,
                                                 std::span<const TensorType* const> earlier, size_t max_rank,
                                                 int64_t max_extent);

}  // namespace isomer
