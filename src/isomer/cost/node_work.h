#pragma once
// FLOPs and bytes of nodes, computed once per combination of operator, attributes and operand types.

#include <unordered_map>

#include "isomer/cost/concrete_types.h"

namespace isomer {

/// Returns whether the operator only changes the shape of the same bytes: it moves nothing and is not a kernel.
bool is_view(const Node& node);

/// Returns whether an engine can run a node in the memory of its operand, or together with the node that makes the
/// operand.
bool works_in_place(const Node& node);

class NodeWorkCache {
 public:
  /// Returns the work of one run of the node. A view moves nothing.
  const Work& of(const Graph& graph, const Node& node, const ConcreteTypes& types);

 private:
  std::unordered_map<uint64_t, Work> known_;
};

}  // namespace isomer
