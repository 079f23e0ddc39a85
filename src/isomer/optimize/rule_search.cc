#include "isomer/optimize/rule_search.h"

#include "isomer/base/hash.h"
#include "isomer/onnx/export.h"
#include "isomer/runtime/reference/fold.h"
#include "isomer/search/part.h"

namespace isomer {

Result<SearchResult> RuleSearch::run(const RuleSet& rules, const Deadline& deadline) {
  judges_.set_deadline(deadline);
  const SearchContext context{
      .rules = rules.rules,
      .tactics = rules.tactics,
      .costs = *judges_.costs.model,
      .oracle = judges_.oracle(),
      .foresight = judges_.foresight.get(),
      .symbols = symbols_,
      .objective = [this](const Metrics& metrics) { return options_.objective.guided(metrics); },
      .prepare = [this](const Graph& graph) { return prepare(graph); },
      .admits = [this](const Graph& graph) { return admits(graph); },
      .progress = options_.progress,
      .deadline = deadline,
      .trace = options_.trace};
  return run_search(model_.graph, options_.search, context);
}

Result<Graph> RuleSearch::prepare(const Graph& graph) const {
  ISOMER_TRY(Graph folded, fold_constants(graph));
  ISOMER_CHECK(exportable(model_, folded));
  return folded;
}

bool RuleSearch::admits(const Graph& graph) {
  for (const NodeId id : run_time_nodes(graph)) {
    const Node& node = graph.node(id);
    const uint64_t form = hash_mix(hash_mix(node.op->hash(), node.attrs.hash()), node.num_operands);
    const auto [known, fresh] = admitted_.try_emplace(form, false);
    if (fresh) known->second = exportable(model_, graph, id).has_value();
    if (!known->second) return false;
  }
  return true;
}

}  // namespace isomer
