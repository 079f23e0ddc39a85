#pragma once
// Explains why a rule is or is not used at a place of a model.

#include <optional>
#include <string>
#include <vector>

#include "isomer/cost/cost_model.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// A rule at a node that could be the first root of its pattern.
struct Place {
  std::string rule;
  std::string node;  ///< name of the node's first result, or "op#id"
  bool applies = false;
  std::string reason = {};             ///< the first failure of the best attempt, or a weight that cannot be folded
  std::optional<double> cost_us = {};  ///< of the whole graph after the rewrite
  size_t progress = 0;                 ///< number of nodes of the pattern that matched before it failed
};

struct ExplainOptions {
  std::string rule = {};  ///< only this one
  std::string node = {};  ///< only the node that makes the value with this name
};

/// Returns all places of the rules in the graph, grouped by rule. Costs are those of candidates: decisions are carried
/// through the rewrites. An Error if the rule or the node is unknown, or the graph has no cost.
Result<std::vector<Place>> explain(const Candidate& candidate, std::span<const Rule> rules, CostModel& costs,
                                   const ExplainOptions& options);

}  // namespace isomer
