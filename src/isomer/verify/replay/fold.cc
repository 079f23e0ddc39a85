#include "isomer/verify/replay/fold.h"

#include "isomer/runtime/reference/executor.h"

namespace isomer::replay {

Result<Tensor> Computed::of(ValueId value) {
  if (!graph_.is_weight(value)) return fail("it does not depend on constants alone");
  const NodeId last = graph_.producer(value);
  std::vector<bool> wanted(last + 1, false);
  wanted[last] = true;
  for (NodeId id = last + 1; id-- > 0;)
    if (wanted[id])
      for (const ValueId operand : graph_.operands(graph_.node(id)))
        if (operand != kNoValue && !known_.contains(operand)) wanted[graph_.producer(operand)] = true;
  for (NodeId id = 0; id <= last; ++id)
    if (wanted[id] && !known_.contains(graph_.node(id).result())) ISOMER_CHECK(run(graph_.node(id)));
  return known_.at(value);
}

Status Computed::run(const Node& node) {
  if (node.is_constant()) {
    known_[node.result()] = node.attrs.tensor("value");
    return {};
  }
  std::vector<Tensor> operands;
  for (const ValueId operand : graph_.operands(node))
    operands.push_back(operand == kNoValue ? Tensor() : known_.at(operand));
  ISOMER_TRY(const std::vector<Tensor> results, run_node(graph_, node, operands));
  for (uint32_t r = 0; r < node.num_results; ++r) known_[node.result(r)] = results[r];
  return {};
}

}  // namespace isomer::replay
