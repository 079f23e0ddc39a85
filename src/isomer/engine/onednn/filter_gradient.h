#pragma once
// The gradient for the filters of a convolution, as ordinary operators express it: a convolution of the image with the
// gradient of the result, batch and channels exchanged.

#include <optional>

#include "isomer/ir/graph.h"

namespace isomer::onednn {

struct FilterGradient {
  ValueId image = kNoValue;     ///< [batch, input channels, ...]
  ValueId gradient = kNoValue;  ///< of the result, [batch, output channels, ...]
};

/// Returns the image and the gradient if a node is a Conv of one group without bias that reads both with their first
/// two axes exchanged, and neither is a constant.
std::optional<FilterGradient> filter_gradient(const Graph& graph, const Node& node);

/// Returns whether a node is a transposition whose result only such convolutions read. Then it needs no row-major
/// operand.
bool feeds_filter_gradients(const Graph& graph, const Node& node);

}  // namespace isomer::onednn
