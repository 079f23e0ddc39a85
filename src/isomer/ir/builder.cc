#include "isomer/ir/builder.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cassert>

#include "isomer/ir/infer_node.h"
#include "isomer/ir/node_hash.h"

namespace isomer {
namespace {

/// The attributes of a graph input. All graphs share those of their first inputs.
Attrs input_attrs(size_t index, bool parameter) {
  if (parameter) return {{"index", static_cast<int64_t>(index)}, {"parameter", int64_t{1}}};
  const auto made = [](size_t i) { return Attrs{{"index", static_cast<int64_t>(i)}}; };
  static const std::vector<Attrs> kFirst = [&] {
    std::vector<Attrs> out;
    for (size_t i = 0; i < 32; ++i) out.push_back(made(i));
    return out;
  }();
  return index < kFirst.size() ? kFirst[index] : made(index);
}

}  // namespace

GraphBuilder::GraphBuilder(std::shared_ptr<const NameTable> names) { graph_.names_ = std::move(names); }

void GraphBuilder::reserve_like(const Graph& graph) {
  graph_.nodes_.reserve(graph.nodes_.size());
  graph_.operands_.reserve(graph.operands_.size());
  graph_.types_.reserve(graph.types_.size());
  graph_.producers_.reserve(graph.types_.size());
  graph_.origins_.reserve(graph.types_.size());
  by_hash_.reserve(graph.nodes_.size());
}

ValueId GraphBuilder::add_input(const Graph::SharedType& type, bool parameter) {
  const size_t index = graph_.inputs_.size();
  const uint64_t hash = hash_mix(hash_mix(input_op().hash(), index), type->hash());
  const NodeId id =
      append(input_op(), input_attrs(index, parameter), {}, {&type, 1}, parameter ? hash_mix(hash, 1) : hash);
  graph_.inputs_.push_back(at(id).result());
  return at(id).result();
}

ValueId GraphBuilder::input_like(const Graph& from, ValueId value) {
  const ValueId input = add_input(from.types_[value], from.is_weight(value));
  set_origin(input, from.origin(value));
  return input;
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

std::optional<ValueId> GraphBuilder::find(const OpDef& op, const Attrs& attrs,
                                          std::span<const ValueId> operands) const {
  const uint64_t hash = node_hash(op, attrs, operands, op.min_results);
  const NodeId* const equal = find_equal(op, attrs, operands, op.min_results, hash);
  return equal == nullptr ? std::nullopt : std::optional(at(*equal).result());
}

NodeId GraphBuilder::opaque(Attrs attrs, std::span<const ValueId> operands, std::vector<TensorType> types) {
  const uint64_t hash = node_hash(opaque_op(), attrs, operands, types.size());
  return append(opaque_op(), std::move(attrs), operands, std::move(types), hash);
}

Result<NodeId> GraphBuilder::copy(const Graph& from, const Node& node, std::span<const ValueId> operands) {
  assert(!node.is_input());
  const std::span types(from.types_.data() + node.first_result, node.num_results);
  if (node.is_opaque())
    return append(opaque_op(), node.attrs, operands, types, node_hash(opaque_op(), node.attrs, operands, types.size()));
  const auto before = from.operands(node);
  bool same_types = before.size() == operands.size();
  for (size_t i = 0; same_types && i < operands.size(); ++i)
    same_types = (before[i] == kNoValue) == (operands[i] == kNoValue) &&
                 (operands[i] == kNoValue || from.types_[before[i]] == graph_.types_[operands[i]] ||
                  from.type(before[i]) == type(operands[i]));
  if (!same_types) return this->node(*node.op, node.attrs, operands, node.num_results);
  const uint64_t hash = node_hash(*node.op, node.attrs, operands, node.num_results);
  if (const NodeId* equal = find_equal(*node.op, node.attrs, operands, node.num_results, hash)) return *equal;
  return append(*node.op, node.attrs, operands, types, hash);
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
  boost::container::small_vector<uint64_t, 8> hashes;
  for (const ValueId operand : operands) hashes.push_back(operand == kNoValue ? 0 : graph_.value_hash(operand));
  return isomer::node_hash(op, attrs, num_results, {hashes.data(), hashes.size()});
}

const NodeId* GraphBuilder::find_equal(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands,
                                       size_t num_results, uint64_t hash) const {
  const NodeId* found = by_hash_.find(hash);
  if (found == nullptr) return nullptr;
  const Node& node = at(*found);
  const auto have = graph_.operands(node);
  const bool same_operands =
      std::equal(have.begin(), have.end(), operands.begin(), operands.end()) ||
      (op.commutative && have.size() == 2 && operands.size() == 2 && have[0] == operands[1] && have[1] == operands[0]);
  const bool equal = node.op == &op && node.num_results == num_results && same_operands && node.attrs == attrs;
  return equal ? found : nullptr;
}

NodeId GraphBuilder::append(const OpDef& op, Attrs attrs, std::span<const ValueId> operands,
                            std::vector<TensorType> types, uint64_t hash) {
  boost::container::small_vector<Graph::SharedType, 2> shared;
  for (TensorType& type : types) shared.push_back(share(std::move(type)));
  return append(op, std::move(attrs), operands, std::span<const Graph::SharedType>(shared.data(), shared.size()), hash);
}

NodeId GraphBuilder::append(const OpDef& op, Attrs attrs, std::span<const ValueId> operands,
                            std::span<const Graph::SharedType> types, uint64_t hash) {
  const auto id = static_cast<NodeId>(graph_.nodes_.size());
  graph_.nodes_.push_back({&op, std::move(attrs), static_cast<uint32_t>(graph_.operands_.size()),
                           static_cast<uint32_t>(operands.size()), static_cast<ValueId>(graph_.types_.size()),
                           static_cast<uint32_t>(types.size()), hash});
  graph_.operands_.insert(graph_.operands_.end(), operands.begin(), operands.end());
  for (const Graph::SharedType& type : types) {
    graph_.types_.push_back(type);
    graph_.producers_.push_back(id);
    graph_.origins_.push_back(kNoOrigin);
  }
  by_hash_.emplace(hash, id);
  return id;
}

std::vector<bool> GraphBuilder::needed_by(std::span<const ValueId> outputs) const {
  std::vector<bool> live(graph_.nodes_.size(), false);
  for (const ValueId output : outputs) live[graph_.producer(output)] = true;
  for (NodeId id = static_cast<NodeId>(live.size()); id-- > 0;) {
    if (graph_.node(id).is_input()) live[id] = true;
    if (!live[id]) continue;
    for (const ValueId operand : graph_.operands(graph_.node(id)))
      if (operand != kNoValue) live[graph_.producer(operand)] = true;
  }
  return live;
}

Graph GraphBuilder::finish(std::span<const ValueId> outputs) {
  graph_.outputs_.assign(outputs.begin(), outputs.end());
  const std::vector<bool> live = needed_by(outputs);
  // Often nothing is dead.
  Graph out = std::ranges::find(live, false) == live.end() ? std::move(graph_) : without_dead(live);
  out.index();
  *this = GraphBuilder();
  return out;
}

/// Returns a copy of the live nodes.
Graph GraphBuilder::without_dead(const std::vector<bool>& live) {
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
  for (const ValueId output : graph_.outputs_) out.outputs_.push_back(renamed[output]);
  return out;
}

}  // namespace isomer
