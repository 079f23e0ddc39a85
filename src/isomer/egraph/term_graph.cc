#include "isomer/egraph/term_graph.h"

#include <algorithm>

#include "isomer/base/hash.h"
#include "isomer/ir/infer_node.h"

namespace isomer {
namespace {

constexpr uint32_t kHugeSize = 1U << 20;

uint64_t label_hash(const OpDef* op, const Attrs& attrs) {
  return hash_mix(op == nullptr ? 0 : op->hash(), attrs.hash());
}

}  // namespace

TermGraph::TermGraph(std::map<uint64_t, std::string> weights, bool all_weights)
    : weights_(std::move(weights)), all_weights_(all_weights) {
  absent_ = add_term({leaf_label(nullptr, {}, "_")}, {});
}

uint32_t TermGraph::new_label(TermLabel label, bool commutative) {
  const auto number = static_cast<uint32_t>(labels_.size()) | (commutative ? EGraph::kCommutative : 0);
  if (label.result == 0) labels_by_hash_.emplace(label_hash(label.op, label.attrs), number);
  labels_.push_back(std::move(label));
  return number;
}

std::optional<uint32_t> TermGraph::find_label(const OpDef& op, const Attrs& attrs) const {
  const auto [begin, end] = labels_by_hash_.equal_range(label_hash(&op, attrs));
  for (auto place = begin; place != end; ++place)
    if (at(place->second).op == &op && at(place->second).attrs == attrs) return place->second;
  return std::nullopt;
}

Result<uint32_t> TermGraph::label_of(const OpDef& op, const Attrs& attrs, size_t results) {
  if (const auto known = find_label(op, attrs)) {
    if (at(*known).results == results) return *known;
    return fail("{} has {} results here and {} there", op.name, results, at(*known).results);
  }
  const auto add = [&](uint32_t result) {
    return new_label({&op, attrs, static_cast<uint32_t>(results), result}, op.commutative);
  };
  const uint32_t first = add(0);
  for (uint32_t result = 1; result < results; ++result) add(result);
  return first;
}

uint32_t TermGraph::leaf_label(const OpDef* op, Attrs attrs, std::string name) {
  if (op != nullptr)
    if (const auto known = find_label(*op, attrs)) return *known;
  return new_label({op, std::move(attrs), 1, 0, std::move(name)}, false);
}

EClassId TermGraph::constant_leaf(const Tensor& tensor) {
  const auto any = weights_.find(tensor.hash());
  const bool known = any == weights_.end();
  const uint32_t label = leaf_label(&constant_op(), Attrs{{"value", tensor}}, known ? "" : any->second);
  return add_term({label}, {tensor.type(), true, true, known ? std::optional(tensor) : std::nullopt});
}

Result<EClassId> TermGraph::add(const Graph& graph) {
  std::vector<EClassId> ids(graph.num_values(), absent_);
  for (const Node& node : graph.nodes()) {
    if (node.is_constant()) {
      ids[node.result()] = constant_leaf(node.attrs.tensor("value"));
      continue;
    }
    std::vector<EClassId> children;
    bool weight = node.is_parameter() || (!node.is_input() && !node.is_opaque());
    bool constant_derived = !node.is_input() && !node.is_opaque();
    for (const ValueId operand : graph.operands(node)) {
      children.push_back(operand == kNoValue ? absent_ : ids[operand]);
      weight = weight && (operand == kNoValue || own_[ids[operand]].weight);
      constant_derived = constant_derived && (operand == kNoValue || own_[ids[operand]].constant_derived);
    }
    uint32_t label = 0;
    if (node.is_input()) {
      label = leaf_label(node.op, node.attrs, graph.name(node.result()));
    } else {
      ISOMER_TRY(label, label_of(*node.op, node.attrs, node.num_results));
    }
    for (uint32_t r = 0; r < node.num_results; ++r)
      ids[node.result(r)] = add_term({label + r, children}, {graph.type(node.result(r)), weight, constant_derived});
  }
  // The outputs are one term, so that graphs are equal if their outputs are.
  std::vector<EClassId> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(ids[output]);
  const Attrs arity{{"outputs", static_cast<int64_t>(outputs.size())}};
  const auto [begin, end] = labels_by_hash_.equal_range(label_hash(nullptr, arity));
  const uint32_t label = begin != end ? begin->second : new_label({nullptr, arity}, false);
  return add_term({label, outputs}, {});
}

EClassId TermGraph::add_term(const ENode& node, Facts facts) {
  const EClassId id = graph_.add_term(node);
  if (id < facts_.size()) return id;
  Own own{facts.weight, facts.constant_derived, facts.constant.has_value(), 1};
  for (const EClassId child : node.children) own.size = std::min(kHugeSize, own.size + own_[child].size);
  own_.push_back(own);
  facts_.push_back(std::move(facts));
  plainest_.push_back(id);
  return id;
}

bool TermGraph::plainer(EClassId a, EClassId b) const {
  if (own_[a].constant != own_[b].constant) return own_[a].constant;
  if (own_[a].constant_derived != own_[b].constant_derived) return own_[a].constant_derived;
  if (own_[a].weight != own_[b].weight) return own_[a].weight;
  return own_[a].size < own_[b].size;
}

void TermGraph::rebuild() {
  graph_.rebuild();
  for (EClassId id = 0; id < facts_.size(); ++id) {
    const EClassId root = find(id);
    if (root == id) continue;
    facts_[root].weight = facts_[root].weight || facts_[id].weight;
    facts_[root].constant_derived = facts_[root].constant_derived || facts_[id].constant_derived;
    if (!facts_[root].constant) facts_[root].constant = facts_[id].constant;
    if (plainer(id, plainest_[root])) plainest_[root] = id;
  }
}

const Tensor* TermGraph::constant(ValueId id) const {
  const auto& known = facts_[find(id)].constant;
  return known ? &*known : nullptr;
}

}  // namespace isomer
