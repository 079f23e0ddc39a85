#pragma once
// Concatenations in place: their operands are computed into parts of one buffer.

#include <optional>
#include <vector>

#include "isomer/runtime/onednn/desc.h"
#include "isomer/runtime/onednn/fusion.h"

namespace isomer::onednn {

/// A part of the buffer of an outermost concatenation.
struct Part {
  ValueId root = kNoValue;  ///< the result of that concatenation
  size_t offset = 0;        ///< in bytes
  Desc desc = {};           ///< of the part
};

/// For every value the part in which a concatenation wants it; nothing for most.
struct ConcatPlacement {
  std::vector<std::optional<Part>> parts;
};

/// Whether the operands of a concatenation lie one after the other: axes before the concatenated one have extent 1.
bool lies_in_a_row(const Graph& graph, const Node& concat);

/// Only concatenations whose operands lie one after the other (others may lie in a part as a whole). Layouts
/// have channels in blocks of `block` where every operand fills its blocks and a convolution, pool or normalization
/// makes one of them; else they are row-major. A concatenation within another one lies in its part.
/// Elements are of `type`.
ConcatPlacement place_concats(const Graph& graph, int block, ElementType type);

}  // namespace isomer::onednn
