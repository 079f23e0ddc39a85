#include "isomer/ir/graph.h"

#include <algorithm>
#include <utility>

namespace isomer {

const std::shared_ptr<const NameTable>& NameTable::empty() {
  static const auto kEmpty = std::make_shared<const NameTable>();
  return kEmpty;
}

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
  depends_.assign(types_.size(), Depends::OnData);
  consumers_begin_.assign(types_.size() + 1, 0);
  // Nodes come in ascending order, so an operand that a node reads again has this node as its last reader.
  constexpr NodeId kNone = std::numeric_limits<NodeId>::max();
  std::vector<NodeId> last_reader(types_.size(), kNone);
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    Depends depends = node.is_parameter()                   ? Depends::OnParameters
                      : node.is_input() || node.is_opaque() ? Depends::OnData
                                                            : Depends::OnConstants;
    for (const ValueId operand : operands(node)) {
      if (operand == kNoValue) continue;
      depends = std::max(depends, depends_[operand]);
      if (std::exchange(last_reader[operand], id) != id) ++consumers_begin_[operand + 1];
    }
    for (uint32_t i = 0; i < node.num_results; ++i) depends_[node.result(i)] = depends;
  }
  for (size_t v = 0; v < types_.size(); ++v) consumers_begin_[v + 1] += consumers_begin_[v];
  consumers_.resize(consumers_begin_.back());
  std::vector<uint32_t> next(consumers_begin_.begin(), consumers_begin_.end() - 1);
  last_reader.assign(types_.size(), kNone);
  for (NodeId id = 0; id < nodes_.size(); ++id)
    for (const ValueId operand : operands(nodes_[id]))
      if (operand != kNoValue && std::exchange(last_reader[operand], id) != id) consumers_[next[operand]++] = id;
  inputs_hash_ = inputs_.size();
  for (const ValueId value : inputs_) inputs_hash_ = hash_mix(inputs_hash_, types_[value]->hash());
  hash_ = inputs_hash_;
  for (const ValueId value : outputs_) hash_ = hash_mix(hash_, value_hash(value));
}

}  // namespace isomer
