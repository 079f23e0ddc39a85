#pragma once
// The gradient of a cross entropy for its scores: the softmax of the scores, less 1 for the class of the label, times a
// factor. As ordinary operators express it, the labels are a one-hot tensor.

#include <optional>
#include <vector>

#include "isomer/engine/onednn/fusion.h"

namespace isomer::onednn {

/// The nodes that compute such a gradient, and what they read.
struct LossGradient {
  ValueId scores = kNoValue;       ///< the classes are the last axis
  ValueId labels = kNoValue;       ///< one for each row of scores
  ValueId factor = kNoValue;       ///< one number, or one for each row; kNoValue: 1
  std::vector<NodeId> inner = {};  ///< the nodes before the last one, ascending
};

/// Returns the gradient that the node `last` computes, if nothing else reads the values between.
std::optional<LossGradient> loss_gradient(const Graph& graph, NodeId last);

/// Joins the groups of such gradients to one group each, whose root is the last node.
std::vector<Group> with_loss_gradients(const Graph& graph, std::vector<Group> groups);

/// Whether a group is such a gradient.
bool is_loss_gradient(const Graph& graph, const Group& group);

}  // namespace isomer::onednn
