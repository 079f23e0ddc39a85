#pragma once
// Random task graphs for tests.

#include "isomer/base/rng.h"
#include "isomer/plan/task_graph.h"

namespace isomer {

/// Returns a graph of `resources` resources with 1 to 3 units, whose tasks use one to three of them. Small durations
/// and ranks make many ties. Edges lead to higher numbers; each exists with probability `degree / tasks`.
inline TaskGraph random_task_graph(Rng& rng, size_t resources, size_t tasks, double degree) {
  TaskGraph graph;
  for (size_t i = 0; i < resources; ++i)
    graph.add_resource("resource " + std::to_string(i), static_cast<uint32_t>(1 + rng.below(3)));
  for (size_t i = 0; i < 2 * resources; ++i) {
    std::vector<ResourceUse> uses;
    for (ResourceId id = 0; id < resources; ++id)
      if (id == i % resources || (i >= resources && rng.below(resources) < 1))
        uses.push_back({id, static_cast<uint32_t>(1 + rng.below(graph.resource(id).units))});
    graph.add_resources(uses);
  }
  for (size_t i = 0; i < tasks; ++i)
    graph.add_task({static_cast<Nanoseconds>(1 + rng.below(9)),
                    static_cast<ResourceSetId>(rng.below(graph.resource_set_count())),
                    static_cast<int32_t>(rng.below(3))});
  for (TaskId from = 0; from < tasks; ++from)
    for (TaskId to = from + 1; to < tasks; ++to)
      if (rng.uniform() * static_cast<double>(tasks) < degree) graph.add_edge(from, to);
  return graph;
}

}  // namespace isomer
