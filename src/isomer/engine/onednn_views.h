#pragma once
// What the own runtime does without a kernel: nodes that only tell where elements lie.

#include "isomer/ir/graph.h"
#include "isomer/runtime/onednn/conv_forms.h"

namespace isomer {

/// Reshapes, transpositions, splits and slices.
bool is_onednn_view(const Node& node);

/// Whether a split or slice takes whole blocks of the channels of one image, and leaves them in their blocks; `form` is
/// the operand's.
bool cuts_blocks(const Graph& graph, const Node& node, onednn::Form form);

/// Whether a transposition brings the channels to the end: row-major, where they were innermost.
bool brings_channels_last(const Node& node);

/// Whether the results of a view of row-major elements do not lie in one piece, in row-major order.
bool makes_strides(const Graph& graph, const Node& node);

}  // namespace isomer
