#include "isomer/optimize/rule_search.h"

#include <algorithm>

#include "isomer/base/hash.h"
#include "isomer/onnx/export.h"
#include "isomer/runtime/reference/fold.h"
#include "isomer/search/part.h"

namespace isomer {
namespace {

/// Folding may take this much of the time budget and so many seconds more: when the search has used up its time, what
/// it chose is still folded, unless that takes long.
constexpr double kFoldShare = 1.1;
constexpr double kFoldSeconds = 0.5;

}  // namespace

Result<SearchResult> RuleSearch::run(const RuleSet& rules, const Deadline& deadline) {
  judges_.set_deadline(deadline);
  end_ = deadline.extended(kFoldShare, kFoldSeconds);
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
      .foldable = [this](const Graph& graph) { return check_weights(graph).has_value(); },
      .refused = &refused_,
      .progress = options_.progress,
      .deadline = deadline,
      .trace = options_.trace};
  ISOMER_TRY(SearchResult found, run_search(model_.graph, options_.search, context));
  for (const auto& [hashes, move] : folds_) found.report.folds.push_back(move);
  report_refused(found.report);
  return found;
}

void RuleSearch::report_refused(SearchReport& report) const {
  for (const auto& [hash, reason] : refused_)
    if (std::ranges::none_of(report.rejected, [&, &why = reason](const Rejection& one) { return one.reason == why; }))
      report.rejected.push_back({"weights", reason});
}

Result<Graph> RuleSearch::prepare(const Graph& graph) {
  if (const auto known = prepared_.find(graph.hash()); known != prepared_.end()) return known->second;
  ISOMER_CHECK(check_weights(graph));
  const auto computed = [this](uint64_t value_hash) { return check_.computed(value_hash); };
  ISOMER_TRY(Folding folding, fold(graph, {.end = end_, .computed = computed}));
  ISOMER_CHECK(exportable(model_, folding.graph));
  check_.trust(folding.graph);
  if (!folding.constants.empty()) {
    Move move;
    move.before = graph.hash();
    move.after = folding.graph.hash();
    for (const auto& [value, tensor] : folding.constants)
      move.constants.emplace_back(graph.value_hash(value), tensor.hash());
    folds_.emplace(std::pair(move.before, move.after), std::move(move));
  }
  if (graph.hash() == model_.graph.hash()) prepared_.emplace(graph.hash(), folding.graph);
  return std::move(folding.graph);
}

Status RuleSearch::check_weights(const Graph& graph) {
  RefusedWeights refused = check_.refused(graph, end_);
  if (refused.empty()) return {};
  const std::string reason = refused.begin()->second;
  refused_.merge(std::move(refused));
  return fail("{}", reason);
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
