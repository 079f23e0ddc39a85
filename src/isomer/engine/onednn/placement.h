#pragma once
// Concatenations in place: their operands are computed directly into parts of one buffer.

#include <optional>
#include <vector>

#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/fusion.h"

namespace isomer::onednn {

/// A part of the buffer of an outermost concatenation.
struct Part {
  ValueId root = kNoValue;  ///< the result of that concatenation
  size_t offset = 0;        ///< in bytes
  Desc desc = {};           ///< of the part
};

/// For every value, the part that its concatenation assigns to it; nothing for most values.
struct ConcatPlacement {
  std::vector<std::optional<Part>> parts;
};

/// Returns whether the operands of a concatenation are consecutive in memory: axes before the concatenated one have
/// extent 1.
bool lies_in_a_row(const Graph& graph, const Node& concat);

/// Places only concatenations whose operands are consecutive in memory (others may lie in a part as a whole). Layouts
/// have channels in blocks of `block` if every operand fills its blocks and one of them comes from a convolution, pool
/// or normalization; else they are row-major. A concatenation within another one is in that one's part. Elements have
/// type `type`.
ConcatPlacement place_concats(const Graph& graph, int block, ElementType type);

}  // namespace isomer::onednn
