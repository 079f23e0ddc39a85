#pragma once
// Random sequences of rewrites.

#include "random_graph.h"

namespace isomer::differential {

struct Step {
  const Rule* rule;
  Graph graph;  ///< that it led to
};

/// Up to `max_steps` matches of the rules, applied one after the other. Every other one is of a rule whose source was
/// planted, where one matches.
std::vector<Step> rewrite(const RandomGraph& from, const std::vector<Rule>& rules, size_t max_steps, uint64_t seed);

}  // namespace isomer::differential
