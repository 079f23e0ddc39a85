#pragma once
// Views of values in a graph that is built. What depends on constants alone is computed at once.

#include "isomer/ir/builder.h"

namespace isomer::onednn {

/// Extents of a value; none where they are not known.
Ints extents_of(const GraphBuilder& builder, ValueId value);
/// A value under other extents, or itself.
Result<ValueId> reshaped(GraphBuilder& builder, ValueId value, const Ints& extents);
/// A value with its axes in another order, or itself.
Result<ValueId> transposed(GraphBuilder& builder, ValueId value, const Ints& perm);

}  // namespace isomer::onednn
