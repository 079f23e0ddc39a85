#include "isomer/cost/node_work.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "isomer/base/hash.h"

namespace isomer {

bool is_view(const Node& node) { return node.op->has(Trait::View); }

bool works_in_place(const Node& node) { return is_view(node) || node.op->has(Trait::InPlace); }

double FlopsCache::of(const Graph& graph, const Node& node, const ConcreteTypes& types) {
  uint64_t key = hash_mix(node.op->hash(), node.attrs.hash());
  for (const ValueId operand : graph.operands(node)) key = hash_mix(key, operand == kNoValue ? 0 : types.hash(operand));
  for (uint32_t i = 0; i < node.num_results; ++i) key = hash_mix(key, types.hash(node.result(i)));
  const auto [entry, added] = known_.try_emplace(key);
  if (added) entry->second = work_of(graph, node, types.extents()).flops;
  return entry->second;
}

double bytes_of_kernel(const Graph& graph, std::span<const NodeId> nodes, const ConcreteTypes& types) {
  boost::container::small_vector<ValueId, 16> read;
  for (const NodeId id : nodes)
    for (const ValueId operand : graph.operands(graph.node(id)))
      if (operand != kNoValue && !std::ranges::binary_search(nodes, graph.producer(operand))) read.push_back(operand);
  std::ranges::sort(read);
  double total = 0;
  for (size_t i = 0; i < read.size(); ++i)
    if (i == 0 || read[i] != read[i - 1]) total += types.bytes(read[i]);
  const Node& last = graph.node(nodes.back());
  for (uint32_t i = 0; i < last.num_results; ++i) total += types.bytes(last.result(i));
  return total;
}

}  // namespace isomer
