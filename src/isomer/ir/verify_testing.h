#pragma once
// The graph verifier of the tests: checks that a graph is well formed, independently of GraphBuilder.

#include <algorithm>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

inline Status verify_node(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (const ValueId operand : graph.operands(node)) {
    if (operand == kNoValue) continue;
    if (operand >= graph.num_values()) return fail("operand {} does not exist", operand);
    if (operand >= node.first_result && node.num_results > 0) return fail("operand {} comes later", operand);
    const auto users = graph.consumers(operand);
    if (!std::binary_search(users.begin(), users.end(), id))
      return fail("it is missing among the consumers of {}", operand);
  }
  for (uint32_t i = 0; i < node.num_results; ++i)
    if (graph.producer(node.result(i)) != id) return fail("result {} has another producer", i);
  if (node.is_input() || node.is_constant() || node.is_opaque()) return {};
  std::vector<const TensorType*> operands;
  for (const ValueId operand : graph.operands(node))
    operands.push_back(operand == kNoValue ? nullptr : &graph.type(operand));
  ISOMER_TRY(const Attrs attrs, complete_attrs(*node.op, node.attrs));
  if (!(attrs == node.attrs)) return fail("its attributes are not complete");
  ISOMER_TRY(const auto types, node.op->infer(OpView{*node.op, node.attrs, operands, node.num_results}));
  if (types.size() != node.num_results) return fail("it has {} results instead of {}", node.num_results, types.size());
  for (uint32_t i = 0; i < node.num_results; ++i)
    if (!(types[i] == graph.type(node.result(i))))
      return fail("result {} is {} instead of {}", i, graph.type(node.result(i)).str(), types[i].str());
  return {};
}

/// Fails unless the graph is well typed (inference gives the stored types), topologically ordered, without dead nodes,
/// and its indices are consistent.
inline Status verify_graph(const Graph& graph) {
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (auto status = verify_node(graph, id); !status)
      return fail_in(fmt::format("node {} ({})", id, node.op->name), status.error());
    bool live = node.is_input();
    for (uint32_t i = 0; i < node.num_results; ++i)
      live = live || graph.is_output(node.result(i)) || !graph.consumers(node.result(i)).empty();
    if (!live) return fail("node {} ({}) is dead", id, node.op->name);
  }
  return {};
}

}  // namespace isomer
