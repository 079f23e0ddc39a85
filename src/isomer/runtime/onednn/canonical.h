#pragma once
// A graph made ready for planning: for concrete extents, with everything folded that these decide, in the forms that
// kernels have.

#include <span>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer::onednn {

/// The graph for inputs of these types, which must fit its own. What depends on constants and extents alone is folded
/// (results above 256 MiB that are larger than their operands are not), nodes whose parameters become known thereby
/// are normalized. Batch normalizations go into the convolutions before them where nothing else reads these; Gelu
/// written out becomes one node; a concatenation that begins with the operands of another begins with that one.
/// Outputs keep their order and meaning.
Result<Graph> canonicalize(const Graph& graph, std::span<const TensorType> inputs);

}  // namespace isomer::onednn
