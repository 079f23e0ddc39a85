#include "isomer/cost/node_work.h"

#include "isomer/base/hash.h"

namespace isomer {

bool is_view(const Node& node) { return node.op->has(Trait::View); }

bool works_in_place(const Node& node) { return is_view(node) || node.op->has(Trait::InPlace); }

const Work& NodeWorkCache::of(const Graph& graph, const Node& node, const ConcreteTypes& types) {
  uint64_t key = hash_mix(node.op->hash(), node.attrs.hash());
  for (const ValueId operand : graph.operands(node)) key = hash_mix(key, operand == kNoValue ? 0 : types.hash(operand));
  for (uint32_t i = 0; i < node.num_results; ++i) key = hash_mix(key, types.hash(node.result(i)));
  const auto [entry, added] = known_.try_emplace(key);
  if (added && !is_view(node)) entry->second = work_of(graph, node, types.extents());
  return entry->second;
}

}  // namespace isomer
