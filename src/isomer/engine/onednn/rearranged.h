#pragma once
// Views of values in a graph that is being built. Views of constants are computed at once.

#include "isomer/ir/builder.h"

namespace isomer::onednn {

/// Returns the extents of a value; none if they are unknown.
Ints extents_of(const GraphBuilder& builder, ValueId value);
/// Returns a value with other extents, or the value itself if they are equal.
Result<ValueId> reshaped(GraphBuilder& builder, ValueId value, const Ints& extents);
/// Returns a value with its axes in another order, or the value itself if the order is the same.
Result<ValueId> transposed(GraphBuilder& builder, ValueId value, const Ints& perm);

}  // namespace isomer::onednn
