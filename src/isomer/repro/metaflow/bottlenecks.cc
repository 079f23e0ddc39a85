#include "isomer/repro/metaflow/bottlenecks.h"

#include <algorithm>

#include "isomer/search/part.h"

namespace isomer {
namespace {

/// The last node that reads a value; its producer if nothing does.
NodeId last_reader(const Graph& graph, ValueId value) {
  NodeId last = graph.producer(value);
  for (const NodeId reader : graph.consumers(value)) last = std::max(last, reader);
  return last;
}

}  // namespace

std::vector<std::vector<NodeId>> groups_between_bottlenecks(const Graph& graph) {
  std::vector<int> ends(graph.nodes().size(), 0);  // by node: values that are read there for the last time
  int alive = 0;
  for (const ValueId input : graph.inputs()) {
    if (graph.consumers(input).empty()) continue;
    ++ends[last_reader(graph, input)];
    ++alive;
  }
  std::vector<std::vector<NodeId>> groups(1);
  for (const NodeId id : run_time_nodes(graph)) {
    const Node& node = graph.node(id);
    groups.back().push_back(id);
    for (uint32_t result = 0; result < node.num_results; ++result) {
      const NodeId last = last_reader(graph, node.result(result));
      if (last == id) continue;
      ++ends[last];
      ++alive;
    }
    alive -= ends[id];
    if (alive == 1) groups.emplace_back();
  }
  if (groups.back().empty()) groups.pop_back();
  return groups;
}

}  // namespace isomer
