#pragma once
// Random small graphs to which rules apply: instances of the rules' own sources, joined, with other nodes between them.

#include <vector>

#include "isomer/ir/graph.h"
#include "isomer/rules/rule.h"

namespace isomer::differential {

struct RandomGraph {
  Graph graph;
  std::vector<const Rule*> planted;  ///< whose sources stand in it
};

/// The graph of this seed; its inputs are float, or in some graphs int64, and those that operators want otherwise.
RandomGraph random_graph(const std::vector<Rule>& rules, uint64_t seed);

}  // namespace isomer::differential
