#pragma once
// Recognizes Gelu as exporters write it out.

#include <optional>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer::onednn {

/// x (erf(x / sqrt 2) + 1) / 2, or its approximation x (tanh(sqrt(2 / pi) (x + 0.044715 x^3)) + 1) / 2.
struct WrittenGelu {
  ValueId x = kNoValue;
  bool tanh = false;          ///< the approximation
  std::vector<NodeId> nodes;  ///< all nodes that compute it, in the graph's order
};

/// Returns the Gelu that the result of `last` is, if `last` is the last product of one; its factors may be multiplied
/// in any order.
std::optional<WrittenGelu> written_gelu(const Graph& graph, NodeId last);

}  // namespace isomer::onednn
