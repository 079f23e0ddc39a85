#include "isomer/ir/graph.h"

#include <algorithm>

#include "isomer/base/hash.h"

namespace isomer {

uint64_t Graph::hash_mix_result(uint64_t node_hash, uint32_t index) { return hash_mix(node_hash, index); }

bool Graph::is_output(ValueId value) const {
  return std::find(outputs_.begin(), outputs_.end(), value) != outputs_.end();
}

const Tensor* Graph::constant(ValueId value) const {
  const Node& node = producer_node(value);
  return node.is_constant() ? &node.attrs.tensor("value") : nullptr;
}

const std::string& Graph::name(ValueId value) const {
  static const std::string kUnnamed;
  const Origin origin = origins_[value];
  return origin < names_->names.size() ? names_->names[origin] : kUnnamed;
}

void Graph::index() {
  weight_.assign(types_.size(), false);
  consumers_begin_.assign(types_.size() + 1, 0);
  std::vector<std::pair<ValueId, NodeId>> uses;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    bool weight = !node.is_input() && !node.is_opaque();
    for (const ValueId operand : operands(node)) {
      if (operand == kNoValue) continue;
      uses.emplace_back(operand, id);
      weight = weight && weight_[operand];
    }
    for (uint32_t i = 0; i < node.num_results; ++i) weight_[node.result(i)] = weight;
  }
  std::sort(uses.begin(), uses.end());
  uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
  consumers_.clear();
  consumers_.reserve(uses.size());
  for (const auto& [value, user] : uses) {
    ++consumers_begin_[value + 1];
    consumers_.push_back(user);
  }
  for (size_t v = 0; v < types_.size(); ++v) consumers_begin_[v + 1] += consumers_begin_[v];
  hash_ = inputs_.size();
  for (const ValueId value : inputs_) hash_ = hash_mix(hash_, types_[value].hash());
  for (const ValueId value : outputs_) hash_ = hash_mix(hash_, value_hash(value));
}

std::vector<const TensorType*> operand_types(const Graph& graph, const Node& node) {
  std::vector<const TensorType*> types;
  types.reserve(node.num_operands);
  for (const ValueId operand : graph.operands(node))
    types.push_back(operand == kNoValue ? nullptr : &graph.type(operand));
  return types;
}

}  // namespace isomer
