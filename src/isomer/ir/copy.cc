#include "isomer/ir/copy.h"

namespace isomer {

Result<std::vector<ValueId>> copy_values(GraphBuilder& builder, const Graph& graph,
                                         const std::function<Result<ValueId>(ValueId)>& input) {
  std::vector<ValueId> copies(graph.num_values(), kNoValue);
  for (const Node& node : graph.nodes()) {
    if (node.is_input()) {
      ISOMER_TRY(copies[node.result()], input(node.result()));
      continue;
    }
    std::vector<ValueId> operands;
    for (const ValueId operand : graph.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : copies[operand]);
    ISOMER_TRY(const NodeId copy, builder.copy(graph, node, operands));
    for (uint32_t i = 0; i < node.num_results; ++i) copies[node.result(i)] = builder.at(copy).result(i);
  }
  return copies;
}

Result<std::vector<ValueId>> copy_nodes(GraphBuilder& builder, const Graph& graph,
                                        const std::function<Result<ValueId>(ValueId)>& input) {
  ISOMER_TRY(const std::vector<ValueId> copies, copy_values(builder, graph, input));
  std::vector<ValueId> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(copies[output]);
  return outputs;
}

}  // namespace isomer
