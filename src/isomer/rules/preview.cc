#include "isomer/rules/preview.h"

#include <algorithm>

#include "isomer/ir/node_hash.h"
#include "isomer/rules/match_target.h"

namespace isomer {

RewritePreview::RewritePreview(const Graph& graph)
    : graph_(graph),
      untouched_(graph.num_values(), kNoValue),
      values_(graph.num_values()),
      is_root_(graph.num_values(), false) {
  by_hash_.reserve(graph.nodes().size());
  for (const Node& node : graph.nodes())
    if (node.num_results > 0) by_hash_.emplace(Graph::hash_mix_result(node.hash, 0), node.result());
  for (ValueId value = 0; value < graph.num_values(); ++value) {
    const bool weight = graph.is_constant_derived(value);
    values_[value] = {.type = &graph.type(value), .hash = graph.value_hash(value), .weight = weight};
    if (weight || graph.producer_node(value).is_input()) untouched_[value] = value;
  }
}

const RunNodes* RewritePreview::after(const Match& match, const Delta& delta, const RefusedWeights* refused) {
  target_ = target_of(graph_, match);
  if (!target_->graph()) return nullptr;
  match_ = &match;
  refused_ = refused != nullptr && !refused->empty() ? refused : nullptr;
  delta_ = &delta;
  active_ = false;
  made_ = untouched_;
  added_.clear();
  nodes_.nodes.clear();
  nodes_.operands.clear();
  nodes_.values = values_;
  for (const ValueId root : match.roots) is_root_[root] = true;
  const bool valid = std::ranges::all_of(graph_.outputs(), [&](ValueId output) { return make(output); });
  for (const ValueId root : match.roots) is_root_[root] = false;
  if (!valid) return nullptr;
  for (const ValueId output : graph_.outputs()) nodes_.values[made_[output]].output = true;
  count_readers();
  return &nodes_;
}

/// Makes a value and everything that it needs, in the order of apply_match. False if the rewrite is not valid.
bool RewritePreview::make(ValueId wanted) {
  stack_.assign(1, {wanted, false});
  while (!stack_.empty()) {
    const auto [value, ready] = stack_.back();
    stack_.pop_back();
    if (made_[value] != kNoValue) continue;
    const bool root = is_root_[value];
    if (ready) {
      if (!root) copy_own(value);
      if (root && !make_targets()) return false;
      continue;
    }
    if (root && active_) return false;  // it would close a cycle
    if (root) active_ = true;
    stack_.emplace_back(value, true);
    const std::span<const ValueId> needs =
        root ? std::span<const ValueId>(delta_->leaves) : graph_.operands(graph_.producer_node(value));
    for (const ValueId need : needs)
      if (need != kNoValue && made_[need] == kNoValue) stack_.emplace_back(need, false);
  }
  return true;
}

/// Copies the node that makes a value of the graph.
void RewritePreview::copy_own(ValueId value) {
  const Node& node = graph_.producer_node(value);
  const auto before = graph_.operands(node);
  ValueId first = node.first_result;
  const auto is_kept = [&](ValueId operand) { return operand == kNoValue || made_[operand] == operand; };
  // The hash of a commutative operator is also the same if its operands have changed places.
  const bool same = delta_->value_hashes[value] == values_[value].hash;
  if (same && (!node.op->commutative || std::ranges::all_of(before, is_kept))) {
    place(graph_, node, first, before);
  } else {
    operands_.clear();
    for (const ValueId operand : before) operands_.push_back(operand == kNoValue ? kNoValue : made_[operand]);
    first = copy(graph_, node, result_hashes(node));
  }
  for (uint32_t i = 0; i < node.num_results; ++i) {
    const ValueId old = node.result(i);
    if (made_[old] == kNoValue && !is_root_[old]) made_[old] = first + i;
  }
}

/// Returns the hashes of the results of a node of the graph with the operands in operands_.
std::span<const uint64_t> RewritePreview::result_hashes(const Node& node) {
  const auto results = std::span(delta_->value_hashes).subspan(node.first_result, node.num_results);
  bool replaced = false;  // some of them
  for (uint32_t i = 0; i < node.num_results; ++i) replaced = replaced || is_root_[node.result(i)];
  if (!replaced) return results;
  hashes_.clear();
  for (const ValueId operand : operands_) hashes_.push_back(operand == kNoValue ? 0 : nodes_.values[operand].hash);
  const uint64_t hash = node_hash(*node.op, node.attrs, node.num_results, hashes_);
  hashes_.clear();
  for (uint32_t i = 0; i < node.num_results; ++i) hashes_.push_back(Graph::hash_mix_result(hash, i));
  return hashes_;
}

bool RewritePreview::make_targets() {
  const Graph& target = *target_->graph();
  const std::vector<ValueId>& leaves = delta_->leaves;
  std::span<const uint64_t> hashes = delta_->made;
  copies_.assign(target.num_values(), kNoValue);
  for (size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i] != kNoValue) copies_[target.inputs()[i]] = made_[leaves[i]];
  for (const Node& node : target.nodes()) {
    if (node.is_input()) continue;
    operands_.clear();
    for (const ValueId operand : target.operands(node))
      operands_.push_back(operand == kNoValue ? kNoValue : copies_[operand]);
    const ValueId first = copy(target, node, hashes.first(node.num_results));
    hashes = hashes.subspan(node.num_results);
    for (uint32_t i = 0; i < node.num_results; ++i) {
      copies_[node.result(i)] = first + i;
      if (refused_ != nullptr && refused_->contains(nodes_.values[first + i].hash)) return false;
    }
  }
  for (size_t i = 0; i < match_->roots.size(); ++i) made_[match_->roots[i]] = copies_[target.outputs()[i]];
  return true;
}

/// Copies a node with the operands in operands_; its results have these hashes. Returns the first result; equal nodes
/// are shared.
ValueId RewritePreview::copy(const Graph& from, const Node& node, std::span<const uint64_t> hashes) {
  const ValueId first = find_or_add(from, node, hashes);
  if (!nodes_.values[first].weight) place(from, node, first, operands_);
  return first;
}

ValueId RewritePreview::find_or_add(const Graph& from, const Node& node, std::span<const uint64_t> hashes) {
  if (const uint32_t* equal = by_hash_.find(hashes[0])) return *equal;
  if (const uint32_t* equal = added_.find(hashes[0])) return *equal;
  const bool weight = !node.is_opaque() && std::ranges::all_of(operands_, [&](ValueId operand) {
    return operand == kNoValue || nodes_.values[operand].weight;
  });
  const auto first = static_cast<ValueId>(nodes_.values.size());
  for (uint32_t i = 0; i < node.num_results; ++i)
    nodes_.values.push_back({.type = &from.type(node.result(i)), .hash = hashes[i], .weight = weight});
  added_.emplace(hashes[0], first);
  return first;
}

/// Appends a node that runs, unless an equal one is there.
void RewritePreview::place(const Graph& from, const Node& node, ValueId first_result,
                           std::span<const ValueId> operands) {
  if (nodes_.values[first_result].producer != RunNodes::kNoNode) return;
  const auto number = static_cast<uint32_t>(nodes_.nodes.size());
  for (uint32_t i = 0; i < node.num_results; ++i) nodes_.values[first_result + i].producer = number;
  nodes_.nodes.push_back({&node, &from, static_cast<uint32_t>(nodes_.operands.size()), first_result});
  nodes_.operands.insert(nodes_.operands.end(), operands.begin(), operands.end());
}

/// Counts the readers of all values, from the last node to the first, so that nodes that nothing needs do not count.
void RewritePreview::count_readers() {
  bool dead = false;
  for (size_t n = nodes_.nodes.size(); n-- > 0;) {
    RunNodes::Run& run = nodes_.nodes[n];
    bool needed = false;
    for (uint32_t i = 0; i < run.node->num_results; ++i) {
      const RunNodes::Value& result = nodes_.values[run.first_result + i];
      needed = needed || result.output || result.readers > 0;
    }
    if (!needed) {
      for (uint32_t i = 0; i < run.node->num_results; ++i)
        nodes_.values[run.first_result + i].producer = RunNodes::kNoNode;
      run.node = nullptr;
      dead = true;
      continue;
    }
    const auto operands = nodes_.operands_of(run);
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i] != kNoValue && std::find(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(i),
                                               operands[i]) == operands.begin() + static_cast<std::ptrdiff_t>(i))
        ++nodes_.values[operands[i]].readers;
  }
  if (dead) remove_dead();
}

void RewritePreview::remove_dead() {
  std::erase_if(nodes_.nodes, [](const RunNodes::Run& run) { return run.node == nullptr; });
  for (uint32_t n = 0; n < nodes_.nodes.size(); ++n)
    for (uint32_t i = 0; i < nodes_.nodes[n].node->num_results; ++i)
      nodes_.values[nodes_.nodes[n].first_result + i].producer = n;
}

}  // namespace isomer
