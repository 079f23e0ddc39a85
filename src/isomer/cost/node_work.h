#pragma once
// FLOPs of nodes, computed once per combination of operator, attributes and operand types; and bytes of kernels.

#include <span>
#include <unordered_map>

#include "isomer/cost/concrete_types.h"

namespace isomer {

/// Returns whether the operator only changes the shape of the same bytes: it moves nothing and is not a kernel.
bool is_view(const Node& node);

/// Returns whether an engine can run a node in the memory of its operand, or together with the node that makes the
/// operand.
bool works_in_place(const Node& node);

class FlopsCache {
 public:
  /// Returns the FLOPs of one run of the node.
  double of(const Graph& graph, const Node& node, const ConcreteTypes& types);

 private:
  std::unordered_map<uint64_t, double> known_;
};

/// Returns the bytes that a kernel of these nodes (ascending) reads and writes: the results of the last one, and what
/// they read from outside. A value that several of them read is read once.
double bytes_of_kernel(const Graph& graph, std::span<const NodeId> nodes, const ConcreteTypes& types);

}  // namespace isomer
