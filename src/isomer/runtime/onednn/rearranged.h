#pragma once
// Views of values in a graph that is built.

#include <algorithm>

#include "isomer/ir/builder.h"
#include "isomer/ops/registry.h"

namespace isomer::onednn {

/// Extents of a value; none where they are not known.
inline Ints extents_of(const GraphBuilder& builder, ValueId value) {
  return concrete(*builder.type(value).shape).value_or(Ints());
}

/// A value under other extents, or itself.
inline Result<ValueId> reshaped(GraphBuilder& builder, ValueId value, const Ints& extents) {
  if (extents_of(builder, value) == extents) return value;
  return builder.add(*find_op("Reshape"), {{"shape", extents}}, {value});
}

/// A value with its axes in another order, or itself.
inline Result<ValueId> transposed(GraphBuilder& builder, ValueId value, const Ints& perm) {
  if (std::ranges::is_sorted(perm)) return value;
  return builder.add(*find_op("Transpose"), {{"perm", perm}}, {value});
}

}  // namespace isomer::onednn
