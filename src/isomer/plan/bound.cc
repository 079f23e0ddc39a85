#include "isomer/plan/bound.h"

namespace isomer {

Result<BoundCandidate> with_input_types(const Candidate& candidate, std::span<const TensorType> inputs) {
  const Graph& graph = candidate.graph;
  GraphBuilder builder(graph.name_table());
  builder.reserve_like(graph);
  std::vector<ValueId> made(graph.num_values(), kNoValue);
  size_t input = 0;
  for (const Node& node : graph.nodes()) {
    if (node.is_input()) {
      const TensorType& type = inputs[input++];
      const bool same = graph.type(node.result()) == type;
      made[node.result()] = same ? builder.input_like(graph, node.result()) : builder.input(type);
    } else {
      std::vector<ValueId> operands;
      for (const ValueId operand : graph.operands(node))
        operands.push_back(operand == kNoValue ? kNoValue : made[operand]);
      ISOMER_TRY(const NodeId copy, builder.copy(graph, node, operands));
      for (uint32_t r = 0; r < node.num_results; ++r) made[node.result(r)] = builder.at(copy).result(r);
    }
    for (uint32_t r = 0; r < node.num_results; ++r)
      builder.set_origin(made[node.result(r)], graph.origin(node.result(r)));
  }
  Decisions decisions;
  add_decisions(
      candidate.decisions, [&](ValueId value) { return std::optional(made[value]); }, decisions);
  std::vector<uint64_t> hashes;
  for (const ValueId value : made) hashes.push_back(builder.peek().value_hash(value));
  std::vector<ValueId> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(made[output]);
  BoundCandidate out{finish(builder, outputs, decisions)};
  const auto by_hash = values_by_hash(out.candidate.graph);
  for (const uint64_t hash : hashes) out.images.push_back(by_hash.at(hash));
  return out;
}

}  // namespace isomer
