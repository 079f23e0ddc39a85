#pragma once
// The gradient for the image of a max pool: each window gives its gradient to the first of its maxima. As ordinary
// operators express it, a max pool with two results finds the positions, and a scattering adds the gradients there.

#include <optional>
#include <vector>

#include "isomer/engine/onednn/channelwise.h"
#include "isomer/engine/onednn/fusion.h"
#include "isomer/ops/window.h"

namespace isomer::onednn {

/// The nodes that compute such a gradient, and what they read.
struct MaxPoolGradient {
  NodeId pool = 0;
  ValueId image = kNoValue;
  /// Of the pool's result. It has the shape of that result, or is flat.
  ValueId gradient = kNoValue;
  std::vector<NodeId> inner = {};  ///< the nodes before the last one, ascending
};

/// Returns the gradient that the node `last` computes, if nothing else reads the values between; nothing for images of
/// more than three spatial axes.
std::optional<MaxPoolGradient> max_pool_gradient(const Graph& graph, NodeId last);

/// Joins the groups of such gradients to one group each, whose root is the last node.
std::vector<Group> with_max_pool_gradients(const Graph& graph, std::vector<Group> groups);

/// Whether a group is such a gradient.
bool is_max_pool_gradient(const Graph& graph, const Group& group);

/// Computes the gradient for an image in a layout; the gradient of the pool's result lies likewise. Uses the current
/// number of threads.
void run_max_pool_gradient(const Window3& window, const ChannelLayout& image, const float* from, const float* gradient,
                           float* to);

}  // namespace isomer::onednn
