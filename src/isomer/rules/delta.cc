#include "isomer/rules/delta.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "isomer/ir/node_hash.h"
#include "isomer/rules/match_target.h"

namespace isomer {
namespace {

/// Returns the hash of a node whose operands have the given hashes, by value.
uint64_t hash_of(const Graph& graph, const Node& node, std::span<const uint64_t> hashes) {
  boost::container::small_vector<uint64_t, 8> operands;
  for (const ValueId operand : graph.operands(node)) operands.push_back(operand == kNoValue ? 0 : hashes[operand]);
  return node_hash(*node.op, node.attrs, node.num_results, {operands.data(), operands.size()});
}

/// Returns the hashes of the values of a target's graph whose inputs stand for `leaves`.
std::vector<uint64_t> target_hashes(const Graph& graph, const Graph& terms, std::span<const ValueId> leaves) {
  std::vector<uint64_t> hashes(terms.num_values(), 0);
  for (size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i] != kNoValue) hashes[terms.inputs()[i]] = graph.value_hash(leaves[i]);
  for (const Node& node : terms.nodes()) {
    if (node.is_input()) continue;
    const uint64_t hash = hash_of(terms, node, hashes);
    for (uint32_t r = 0; r < node.num_results; ++r) hashes[node.result(r)] = Graph::hash_mix_result(hash, r);
  }
  return hashes;
}

}  // namespace

Result<Delta> delta_of(const Graph& graph, const Match& match) {
  const auto target = target_of(graph, match);
  if (!target->graph()) return tl::unexpected<Error>(target->graph().error());
  const Graph& terms = *target->graph();
  Delta delta{.leaves = target->bound(match)};
  const std::vector<uint64_t> made = target_hashes(graph, terms, delta.leaves);
  for (const Node& node : terms.nodes())
    for (uint32_t r = 0; r < node.num_results && !node.is_input(); ++r) delta.made.push_back(made[node.result(r)]);
  delta.value_hashes.reserve(graph.num_values());
  for (ValueId value = 0; value < graph.num_values(); ++value) delta.value_hashes.push_back(graph.value_hash(value));
  std::vector<bool> changed(graph.num_values(), false);
  auto first = static_cast<NodeId>(graph.nodes().size());
  for (size_t i = 0; i < match.roots.size(); ++i) {
    delta.value_hashes[match.roots[i]] = made[terms.outputs()[i]];
    changed[match.roots[i]] = true;
    first = std::min(first, graph.producer(match.roots[i]));
  }
  for (NodeId id = first; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    const auto reads = graph.operands(node);
    if (std::ranges::none_of(reads, [&](ValueId v) { return v != kNoValue && changed[v]; })) continue;
    const uint64_t hash = hash_of(graph, node, delta.value_hashes);
    for (uint32_t r = 0; r < node.num_results; ++r) {
      if (changed[node.result(r)]) continue;  // a root
      delta.value_hashes[node.result(r)] = Graph::hash_mix_result(hash, r);
      changed[node.result(r)] = true;
    }
  }
  delta.hash = graph.inputs_hash();
  for (const ValueId value : graph.outputs()) delta.hash = hash_mix(delta.hash, delta.value_hashes[value]);
  return delta;
}

}  // namespace isomer
