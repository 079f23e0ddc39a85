#include "isomer/optimize/explain.h"

#include <set>

#include "isomer/eval/weight_check.h"
#include "isomer/rules/blocks.h"
#include "isomer/rules/delta.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/step.h"

namespace isomer {
namespace {

/// Time limit for computing the weights that one rewrite makes.
constexpr double kSecondsForWeights = 10;

/// Completes `place` by the cost of the rewritten graph or by the reason why the match cannot be applied.
Place outcome(const Candidate& candidate, const Match& match, CostModel& costs, WeightCheck& weights, Place place) {
  auto after = apply_match(candidate.graph, match);
  if (!after) {
    place.reason = after.error().message;
    return place;
  }
  if (const auto refused = weights.refused(*after, Deadline::after(kSecondsForWeights)); !refused.empty()) {
    place.reason = refused.begin()->second;
    return place;
  }
  place.applies = true;
  const auto delta = delta_of(candidate.graph, match);
  if (const auto metrics = costs.metrics(carried(candidate.decisions, delta->value_hashes, std::move(*after))))
    place.cost_us = metrics->latency_us;
  else
    place.reason = metrics.error().message;
  return place;
}

/// Returns whether the node makes a value with this name.
bool makes_value(const Graph& graph, const Node& node, const std::string& name) {
  for (uint32_t i = 0; i < node.num_results; ++i)
    if (value_label(graph, node.result(i)) == name) return true;
  return false;
}

}  // namespace

Result<std::vector<Place>> explain(const Candidate& candidate, std::span<const Rule> rules, CostModel& costs,
                                   const ExplainOptions& options) {
  const Graph& graph = candidate.graph;
  const OpIndex index(graph);
  WeightCheck weights(graph);
  std::vector<Place> places;
  bool rule_known = options.rule.empty();
  bool node_known = options.node.empty();
  for (NodeId id = 0; id < graph.nodes().size() && !node_known; ++id)
    node_known = makes_value(graph, graph.node(id), options.node);
  if (!node_known) return fail("there is no node that makes a value called '{}'", options.node);
  for (const Rule& rule : prefer_blocks(rules, costs.channel_blocks())) {
    if (!options.rule.empty() && rule.name != options.rule && rule.family != options.rule) continue;
    rule_known = true;
    for (const NodeId id : index.nodes(*rule.sources[0].op)) {
      if (!options.node.empty() && !makes_value(graph, graph.node(id), options.node)) continue;
      Miss miss;
      std::vector<Match> matches;
      find_matches_at(graph, index, rule, id, matches, &miss);
      const Place place{.rule = rule.name, .node = value_label(graph, graph.node(id).result())};
      std::set<uint64_t> results;  // a commutative operator can match in two ways with the same result
      for (const Match& match : matches)
        if (const auto delta = delta_of(graph, match); !delta || results.insert(delta->hash).second)
          places.push_back(outcome(candidate, match, costs, weights, place));
      if (!matches.empty()) continue;
      places.push_back(place);
      places.back().reason = miss.reason.empty() ? "no other root of the pattern was found" : miss.reason;
      places.back().progress = miss.progress;
    }
  }
  if (!rule_known) return fail("there is no rule '{}'; `isomer rules list` lists them", options.rule);
  return places;
}

}  // namespace isomer
