#pragma once
// The gradient for the filters of a convolution, as ordinary operators express it: a convolution of the image with the
// gradient of the result, batch and channels exchanged. With groups, the batch of each group is exchanged with the
// channels of that group.

#include <optional>

#include "isomer/ir/graph.h"

namespace isomer::onednn {

struct FilterGradient {
  ValueId image = kNoValue;     ///< [batch, input channels, ...]
  ValueId gradient = kNoValue;  ///< of the result, [batch, output channels, ...]
  NodeId image_reader = 0;      ///< the first node that exchanges axes of the image
  NodeId gradient_reader = 0;
};

/// Returns the image and the gradient if a node is a Conv without bias that reads both with their first two axes
/// exchanged (of the image, those of each group), and neither is a constant.
std::optional<FilterGradient> filter_gradient(const Graph& graph, const Node& node);

/// Returns whether a node is such a convolution with several groups, between values of known extents, that oneDNN can
/// compute. It never reads its own operand with the image's axes exchanged.
bool reads_groups(const Graph& graph, const Node& node);

/// Returns whether a node exchanges axes, alone or with others, for no other readers than such convolutions. Then it
/// needs no row-major operand, and nothing reads its result.
bool feeds_filter_gradients(const Graph& graph, const Node& node);

}  // namespace isomer::onednn
