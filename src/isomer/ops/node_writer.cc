#include "isomer/ops/node_writer.h"

#include "isomer/ops/registry.h"

namespace isomer {

const TensorType& GraphValue::type() const { return node_->type(id_); }

GraphValue NodeWriter::call(std::string_view op, const Attrs& attrs, std::span<const GraphValue> operands) {
  std::vector<ValueId> ids;
  for (const GraphValue& term : operands) ids.push_back(term.id());
  const auto value = builder_.add(isomer::op(op), attrs, ids);
  if (!value) refuse(value.error().message);
  return {*this, *value};
}

std::vector<GraphValue> NodeWriter::call_all(std::string_view op, const Attrs& attrs,
                                             std::initializer_list<GraphValue> operands, size_t num_results) {
  std::vector<ValueId> ids;
  for (const GraphValue& term : operands) ids.push_back(term.id());
  const auto node = builder_.node(isomer::op(op), attrs, ids, num_results);
  if (!node) refuse(node.error().message);
  std::vector<GraphValue> results;
  for (uint32_t i = 0; i < num_results; ++i) results.emplace_back(*this, builder_.at(*node).result(i));
  return results;
}

void NodeWriter::refuse(std::string reason) const { throw Refusal{std::move(reason)}; }

}  // namespace isomer
