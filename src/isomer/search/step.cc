#include "isomer/search/step.h"

#include "isomer/rules/record.h"
#include "isomer/search/exhaustive.h"

namespace isomer {

std::string value_label(const Graph& graph, ValueId value) {
  const std::string& name = graph.name(value);
  return name.empty() ? fmt::format("{}#{}", graph.producer_node(value).op->name, graph.producer(value)) : name;
}

SearchStep step_of(const Graph& before, const Match& match, const Graph& after, const CostChange& change) {
  SearchStep step{.rule = match.rule->name,
                  .rule_hash = match.rule->hash(),
                  .ops_before = run_time_ops(before),
                  .ops_after = run_time_ops(after),
                  .delta = change.by,
                  .penalized = change.penalized};
  for (const ValueId root : match.roots) step.nodes.push_back(value_label(before, root));
  const Match* const applied[] = {&match};
  step.moves.push_back(record_move(before, applied, after));
  return step;
}

}  // namespace isomer
