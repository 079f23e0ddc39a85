#include "isomer/certificate/part.h"

#include <memory>

#include "isomer/ir/copy.h"

namespace isomer::replay {

Result<Graph> part_of(const Graph& whole, std::span<const ValueId> inputs, std::span<const ValueId> outputs) {
  std::vector<bool> wanted(whole.num_values(), false);
  for (const ValueId output : outputs) wanted[output] = true;
  std::vector<ValueId> made(whole.num_values(), kNoValue);
  GraphBuilder builder(whole.name_table());
  for (const ValueId input : inputs) {
    if (made[input] != kNoValue) return fail("a part reads one value as two inputs");
    made[input] = builder.input_like(whole, input);
  }
  const auto count = static_cast<NodeId>(whole.nodes().size());
  std::vector<bool> inside(count, false);
  for (NodeId id = count; id-- > 0;) {
    const Node& node = whole.node(id);
    for (uint32_t r = 0; r < node.num_results; ++r)
      if (wanted[node.result(r)] && made[node.result(r)] == kNoValue) inside[id] = true;
    if (!inside[id]) continue;
    if (node.is_input()) return fail("a part needs an input that it does not list");
    for (const ValueId operand : whole.operands(node))
      if (operand != kNoValue) wanted[operand] = true;
  }
  for (NodeId id = 0; id < count; ++id) {
    const Node& node = whole.node(id);
    if (!inside[id]) continue;
    std::vector<ValueId> operands;
    for (const ValueId operand : whole.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : made[operand]);
    ISOMER_TRY(const NodeId copy, builder.copy(whole, node, operands));
    for (uint32_t r = 0; r < node.num_results; ++r) {
      if (made[node.result(r)] != kNoValue) continue;  // an input of the part
      made[node.result(r)] = builder.at(copy).result(r);
      builder.set_origin(builder.at(copy).result(r), whole.origin(node.result(r)));
    }
  }
  std::vector<ValueId> results;
  for (const ValueId output : outputs) results.push_back(made[output]);
  return builder.finish(results);
}

Replacement put_back(std::vector<ValueId> inputs, std::vector<ValueId> outputs, Graph part) {
  Replacement out;
  out.roots = std::move(outputs);
  out.needs = inputs;
  out.title = "a part";
  const auto shared = std::make_shared<const Graph>(std::move(part));
  out.make = [shared, inputs = std::move(inputs)](GraphBuilder& builder, const Images& images) {
    return copy_nodes(builder, *shared, [&](ValueId input) -> Result<ValueId> {
      for (size_t i = 0; i < inputs.size(); ++i)
        if (shared->inputs()[i] == input) return images[inputs[i]];
      return fail("a part has another input");
    });
  };
  return out;
}

}  // namespace isomer::replay
