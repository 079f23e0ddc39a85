#pragma once
// FLOPs and bytes of nodes, computed once for each operator, attributes and operand types.

#include <unordered_map>

#include "isomer/cost/concrete_types.h"

namespace isomer {

/// Operators that only give the same bytes another shape: they move nothing and are no kernel.
bool is_view(const Node& node);

/// Whether an engine performs a node where its operand lies, or together with the node that makes it.
bool works_in_place(const Node& node);

/// Whether a node takes part in a run: inputs, constants and what depends on constants alone do not.
bool runs(const Graph& graph, const Node& node);

class NodeWorkCache {
 public:
  /// Of one run of the node. A view moves nothing.
  const Work& of(const Graph& graph, const Node& node, const ConcreteTypes& types);

 private:
  std::unordered_map<uint64_t, Work> known_;
};

}  // namespace isomer
