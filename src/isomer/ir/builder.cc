#include "isomer/ir/builder.h"

#include <algorithm>
#include <cassert>

#include "isomer/ir/infer_node.h"
#include "isomer/ir/node_hash.h"

namespace isomer {
GraphBuilder::GraphBuilder(std::shared_ptr<const NameTable> names) { graph_.names_ = std::move(names); }

ValueId GraphBuilder::input(TensorType type) {
  const auto index = static_cast<int64_t>(graph_.inputs_.size());
  const uint64_t hash = hash_mix(hash_mix(input_op().hash(), static_cast<uint64_t>(index)), type.hash());
  const NodeId id = append(input_op(), Attrs{{"index", index}}, {}, {std::move(type)}, hash);
  graph_.inputs_.push_back(at(id).result());
  return at(id).result();
}

ValueId GraphBuilder::constant(Tensor tensor) {
  TensorType type = tensor.type();
  Attrs attrs{{"value", std::move(tensor)}};
  const uint64_t hash = node_hash(constant_op(), attrs, {}, 1);
  if (const NodeId* equal = find_equal(constant_op(), attrs, {}, 1, hash)) return at(*equal).result();
  return at(append(constant_op(), std::move(attrs), {}, {std::move(type)}, hash)).result();
}

Result<NodeId> GraphBuilder::node(const OpDef& op, const Attrs& given, std::span<const ValueId> operands,
                                  size_t num_results) {
  ISOMER_TRY(Attrs attrs, complete_attrs(op, given));
  if (operands.size() < op.min_operands || operands.size() > op.max_operands)
    return fail("{} got {} operands", op.name, operands.size());
  if (num_results > op.max_results) return fail("{} has no {} results", op.name, num_results);
  num_results = std::max(num_results, op.min_results);
  // If type inference determines the number of results (Split), that number is used instead of the requested one, so
  // that equal nodes have equal hashes.
  const bool fixed = op.min_results == op.max_results;
  std::vector<TensorType> results;
  if (!fixed) {
    ISOMER_TRY(results, infer_results(op, attrs, operands, num_results));
    num_results = results.size();
  }
  const uint64_t hash = node_hash(op, attrs, operands, num_results);
  if (const NodeId* equal = find_equal(op, attrs, operands, num_results, hash)) return *equal;
  if (fixed) {
    ISOMER_TRY(results, infer_results(op, attrs, operands, num_results));
  }
  return append(op, std::move(attrs), operands, std::move(results), hash);
}

Result<std::vector<TensorType>> GraphBuilder::infer_results(const OpDef& op, const Attrs& attrs,
                                                            std::span<const ValueId> operands,
                                                            size_t num_results) const {
  std::vector<const TensorType*> types;
  types.reserve(operands.size());
  for (const ValueId operand : operands) types.push_back(operand == kNoValue ? nullptr : &type(operand));
  return infer_node(op, attrs, types, num_results);
}

Result<ValueId> GraphBuilder::add(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands) {
  ISOMER_TRY(const NodeId id, node(op, attrs, operands));
  return at(id).result();
}

NodeId GraphBuilder::opaque(Attrs attrs, std::span<const ValueId> operands, std::vector<TensorType> types) {
  const uint64_t hash = node_hash(opaque_op(), attrs, operands, types.size());
  return append(opaque_op(), std::move(attrs), operands, std::move(types), hash);
}

Result<NodeId> GraphBuilder::copy(const Graph& from, const Node& node, std::span<const ValueId> operands) {
  assert(!node.is_input());
  std::vector<TensorType> types;
  for (uint32_t i = 0; i < node.num_results; ++i) types.push_back(from.type(node.result(i)));
  if (node.is_opaque()) return opaque(node.attrs, operands, std::move(types));
  const auto before = from.operands(node);
  bool same_types = before.size() == operands.size();
  for (size_t i = 0; same_types && i < operands.size(); ++i)
    same_types = (before[i] == kNoValue) == (operands[i] == kNoValue) &&
                 (operands[i] == kNoValue || from.type(before[i]) == type(operands[i]));
  if (!same_types) return this->node(*node.op, node.attrs, operands, node.num_results);
  const uint64_t hash = node_hash(*node.op, node.attrs, operands, node.num_results);
  if (const NodeId* equal = find_equal(*node.op, node.attrs, operands, node.num_results, hash)) return *equal;
  return append(*node.op, node.attrs, operands, std::move(types), hash);
}

void GraphBuilder::set_origin(ValueId value, Origin origin) {
  if (graph_.origins_[value] == kNoOrigin) graph_.origins_[value] = origin;
}

void GraphBuilder::name(ValueId value, const std::string& name) {
  if (!own_names_) {
    own_names_ = std::make_shared<NameTable>(*graph_.names_);
    graph_.names_ = own_names_;
  }
  own_names_->names.push_back(name);
  set_origin(value, static_cast<Origin>(own_names_->names.size() - 1));
}

uint64_t GraphBuilder::node_hash(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands,
                                 size_t num_results) const {
  std::vector<uint64_t> hashes;
  hashes.reserve(operands.size());
  for (const ValueId operand : operands) hashes.push_back(operand == kNoValue ? 0 : graph_.value_hash(operand));
  return isomer::node_hash(op, attrs, num_results, hashes);
}

const NodeId* GraphBuilder::find_equal(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands,
                                       size_t num_results, uint64_t hash) const {
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return nullptr;
  const Node& node = at(found->second);
  const auto have = graph_.operands(node);
  const bool same_operands =
      std::equal(have.begin(), have.end(), operands.begin(), operands.end()) ||
      (op.commutative && have.size() == 2 && operands.size() == 2 && have[0] == operands[1] && have[1] == operands[0]);
  const bool equal = node.op == &op && node.num_results == num_results && same_operands && node.attrs == attrs;
  return equal ? &found->second : nullptr;
}

NodeId GraphBuilder::append(const OpDef& op, Attrs attrs, std::span<const ValueId> operands,
                            std::vector<TensorType> types, uint64_t hash) {
  const auto id = static_cast<NodeId>(graph_.nodes_.size());
  graph_.nodes_.push_back({&op, std::move(attrs), static_cast<uint32_t>(graph_.operands_.size()),
                           static_cast<uint32_t>(operands.size()), static_cast<ValueId>(graph_.types_.size()),
                           static_cast<uint32_t>(types.size()), hash});
  graph_.operands_.insert(graph_.operands_.end(), operands.begin(), operands.end());
  for (TensorType& type : types) {
    graph_.types_.push_back(std::move(type));
    graph_.producers_.push_back(id);
    graph_.origins_.push_back(kNoOrigin);
  }
  by_hash_.emplace(hash, id);
  return id;
}

Graph GraphBuilder::finish(std::span<const ValueId> outputs) {
  std::vector<bool> live(graph_.nodes_.size(), false);
  for (const ValueId output : outputs) live[graph_.producer(output)] = true;
  for (NodeId id = static_cast<NodeId>(live.size()); id-- > 0;) {
    if (graph_.node(id).is_input()) live[id] = true;
    if (!live[id]) continue;
    for (const ValueId operand : graph_.operands(graph_.node(id)))
      if (operand != kNoValue) live[graph_.producer(operand)] = true;
  }
  Graph out;
  out.names_ = graph_.names_;
  std::vector<ValueId> renamed(graph_.num_values(), kNoValue);
  const auto rename = [&](ValueId value) { return value == kNoValue ? kNoValue : renamed[value]; };
  for (NodeId id = 0; id < live.size(); ++id) {
    if (!live[id]) continue;
    Node node = graph_.nodes_[id];
    const auto operands = graph_.operands(node);
    node.first_operand = static_cast<uint32_t>(out.operands_.size());
    for (const ValueId operand : operands) out.operands_.push_back(rename(operand));
    for (uint32_t i = 0; i < node.num_results; ++i) {
      const ValueId old = node.result(i);
      renamed[old] = static_cast<ValueId>(out.types_.size());
      out.types_.push_back(std::move(graph_.types_[old]));
      out.producers_.push_back(static_cast<NodeId>(out.nodes_.size()));
      out.origins_.push_back(graph_.origins_[old]);
    }
    node.first_result =
        node.num_results > 0 ? renamed[graph_.nodes_[id].first_result] : static_cast<ValueId>(out.types_.size());
    out.nodes_.push_back(std::move(node));
  }
  for (const ValueId input : graph_.inputs_) out.inputs_.push_back(renamed[input]);
  for (const ValueId output : outputs) out.outputs_.push_back(renamed[output]);
  out.index();
  graph_ = Graph();
  by_hash_.clear();
  own_names_.reset();
  return out;
}

}  // namespace isomer
