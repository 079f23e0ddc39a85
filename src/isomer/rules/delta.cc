#include "isomer/rules/delta.h"

#include <algorithm>
#include <unordered_map>

#include "isomer/ir/builder.h"
#include "isomer/ir/node_hash.h"
#include "isomer/rules/rewrite.h"

namespace isomer {
namespace {

/// Builds the target's nodes from stand-ins for the bound values of a match. A stand-in is a constant if the value is
/// one (expressions may query its elements), and an input otherwise.
class Overlay {
 public:
  Overlay(const Graph& graph, const Match& match) : graph_(graph), match_(match), builder_(graph.name_table()) {}

  /// Content hashes of the values that replace the roots.
  Result<std::vector<uint64_t>> target_hashes() {
    Binding binding = match_.binding;
    for (auto& [name, value] : binding.values) value = stand_in(value);
    for (auto& [name, values] : binding.sequences)
      for (ValueId& value : values) value = stand_in(value);
    const DType element = graph_.type(match_.roots[0]).dtype;
    const size_t stand_ins = builder_.peek().num_values();
    ISOMER_TRY(const auto targets, instantiate_targets(builder_, *match_.rule, std::move(binding), element));
    if (targets.size() != match_.roots.size())
      return fail("the target has {} values for {}", targets.size(), match_.roots.size());
    hash_nodes();
    made_.assign(hashes_.begin() + static_cast<std::ptrdiff_t>(stand_ins), hashes_.end());
    std::vector<uint64_t> hashes;
    for (size_t i = 0; i < targets.size(); ++i) {
      if (!(builder_.type(targets[i]) == graph_.type(match_.roots[i])))
        return fail("the target is {} where {} was", builder_.type(targets[i]).str(),
                    graph_.type(match_.roots[i]).str());
      hashes.push_back(hashes_[targets[i]]);
    }
    return hashes;
  }

  /// Content hashes of the values that the target makes; known after target_hashes.
  std::vector<uint64_t>& made() { return made_; }

 private:
  ValueId stand_in(ValueId value) {
    if (value == kNoValue) return value;
    const auto known = stand_ins_.find(value);
    if (known != stand_ins_.end()) return known->second;
    const Node& node = graph_.producer_node(value);
    const ValueId made = node.is_constant() ? builder_.at(*builder_.copy(graph_, node, {})).result()
                                            : builder_.input(graph_.type(value));
    stand_ins_.emplace(value, made);
    hashes_.resize(made + 1);
    hashes_[made] = graph_.value_hash(value);
    return made;
  }

  void hash_nodes() {
    const Graph& made = builder_.peek();
    hashes_.resize(made.num_values());
    std::vector<uint64_t> operands;
    for (const Node& node : made.nodes()) {
      if (node.is_input()) continue;  // its hash is that of the value that it represents
      operands.clear();
      for (const ValueId operand : made.operands(node)) operands.push_back(operand == kNoValue ? 0 : hashes_[operand]);
      const uint64_t hash = node_hash(*node.op, node.attrs, node.num_results, operands);
      for (uint32_t r = 0; r < node.num_results; ++r) hashes_[node.result(r)] = Graph::hash_mix_result(hash, r);
    }
  }

  const Graph& graph_;
  const Match& match_;
  GraphBuilder builder_;
  std::unordered_map<ValueId, ValueId> stand_ins_;  // only for lookups
  std::vector<uint64_t> hashes_;                    // by value of the builder
  std::vector<uint64_t> made_;
};

}  // namespace

Result<Delta> delta_of(const Graph& graph, const Match& match) {
  Overlay overlay(graph, match);
  ISOMER_TRY(const std::vector<uint64_t> targets, overlay.target_hashes());
  Delta delta;
  delta.made = std::move(overlay.made());
  delta.value_hashes.reserve(graph.num_values());
  for (ValueId value = 0; value < graph.num_values(); ++value) delta.value_hashes.push_back(graph.value_hash(value));
  std::vector<bool> changed(graph.num_values(), false);
  auto first = static_cast<NodeId>(graph.nodes().size());
  for (size_t i = 0; i < targets.size(); ++i) {
    delta.value_hashes[match.roots[i]] = targets[i];
    changed[match.roots[i]] = true;
    first = std::min(first, graph.producer(match.roots[i]));
  }
  std::vector<uint64_t> operands;
  for (NodeId id = first; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    const auto reads = graph.operands(node);
    if (std::none_of(reads.begin(), reads.end(), [&](ValueId v) { return v != kNoValue && changed[v]; })) continue;
    operands.clear();
    for (const ValueId operand : reads) operands.push_back(operand == kNoValue ? 0 : delta.value_hashes[operand]);
    const uint64_t hash = node_hash(*node.op, node.attrs, node.num_results, operands);
    for (uint32_t r = 0; r < node.num_results; ++r) {
      if (changed[node.result(r)]) continue;  // a root
      delta.value_hashes[node.result(r)] = Graph::hash_mix_result(hash, r);
      changed[node.result(r)] = true;
    }
  }
  delta.hash = graph.inputs().size();
  for (const ValueId value : graph.inputs()) delta.hash = hash_mix(delta.hash, graph.type(value).hash());
  for (const ValueId value : graph.outputs()) delta.hash = hash_mix(delta.hash, delta.value_hashes[value]);
  return delta;
}

}  // namespace isomer
