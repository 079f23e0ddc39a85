#include "reduce.h"

#include <optional>
#include <vector>

#include "isomer/ir/builder.h"

namespace isomer::differential {
namespace {

/// The graph with only these outputs, and with an input in place of the node `cut`.
Result<Graph> part_of(const Graph& graph, const std::vector<ValueId>& outputs, NodeId cut = -1) {
  std::vector<bool> needed(graph.num_values(), false);
  for (const ValueId output : outputs) needed[output] = true;
  for (NodeId id = graph.nodes().size(); id-- > 0;) {
    const Node& node = graph.node(id);
    bool used = false;
    for (uint32_t r = 0; r < node.num_results; ++r) used = used || needed[node.result(r)];
    if (!used || id == cut) continue;
    for (const ValueId operand : graph.operands(node))
      if (operand != kNoValue) needed[operand] = true;
  }
  GraphBuilder builder;
  std::vector<ValueId> made(graph.num_values(), kNoValue);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (node.is_input() || id == cut) {
      for (uint32_t r = 0; r < node.num_results; ++r)
        if (needed[node.result(r)]) made[node.result(r)] = builder.input(graph.type(node.result(r)));
      continue;
    }
    std::vector<ValueId> operands;
    bool whole = true;
    for (const ValueId operand : graph.operands(node)) {
      operands.push_back(operand == kNoValue ? kNoValue : made[operand]);
      whole = whole && (operand == kNoValue || operands.back() != kNoValue);
    }
    if (!whole) continue;  // not needed
    ISOMER_TRY(const NodeId copy, builder.copy(graph, node, operands));
    for (uint32_t r = 0; r < node.num_results; ++r) made[node.result(r)] = builder.at(copy).result(r);
  }
  std::vector<ValueId> ends;
  for (const ValueId output : outputs) ends.push_back(made[output]);
  return builder.finish(ends);
}

/// A smaller graph that fails: one output less, an operand of a last node in place of its result, or a node less.
std::optional<Graph> smaller(const Graph& graph, const std::function<bool(const Graph&)>& fails) {
  const std::vector<ValueId> outputs(graph.outputs().begin(), graph.outputs().end());
  const auto failing = [&](const Result<Graph>& part) {
    return part && part->nodes().size() + part->outputs().size() < graph.nodes().size() + outputs.size() &&
           fails(*part);
  };
  for (size_t i = 0; outputs.size() > 1 && i < outputs.size(); ++i) {
    std::vector<ValueId> fewer = outputs;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (auto part = part_of(graph, fewer); failing(part)) return std::move(*part);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const ValueId operand : graph.operands(graph.producer_node(outputs[i]))) {
      if (operand == kNoValue || graph.is_constant_derived(operand)) continue;
      std::vector<ValueId> earlier = outputs;
      earlier[i] = operand;
      if (auto part = part_of(graph, earlier); failing(part)) return std::move(*part);
    }
  }
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (node.is_input() || node.is_constant()) continue;
    if (auto part = part_of(graph, outputs, id); failing(part)) return std::move(*part);
  }
  return std::nullopt;
}

}  // namespace

Graph reduced(const Graph& graph, const std::function<bool(const Graph&)>& fails) {
  Graph out = graph;
  while (auto next = smaller(out, fails)) out = std::move(*next);
  return out;
}

}  // namespace isomer::differential
