#include "isomer/repro/searched.h"

#include <ctime>
#include <limits>

#include "isomer/cost/objective.h"
#include "isomer/models/models.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/measured_parts.h"
#include "isomer/search/preparation.h"

namespace isomer {
namespace {

double cpu_seconds_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The built-in rules that fold batch normalizations.
Result<std::vector<Rule>> folding_rules() {
  ISOMER_TRY(const std::vector<Rule> all, builtin_rules());
  std::vector<Rule> out;
  for (const Rule& rule : all)
    if (rule.name == "fold-batch-norm" || rule.name == "fold-batch-norm-bias") out.push_back(rule);
  return out;
}

}  // namespace

std::string StartNetwork::hash() const { return fmt::format("{:016x}", model.graph.hash()); }

std::map<std::string, int> Searched::uses() const {
  std::map<std::string, int> counts;
  for (const SearchStep& step : report.steps) ++counts[step.rule];
  return counts;
}

std::string text_of(const std::map<std::string, int>& uses) {
  std::string out;
  for (const auto& [rule, count] : uses) out += fmt::format("{}{} x {}", out.empty() ? "" : ", ", rule, count);
  return out.empty() ? "none" : out;
}

Result<StartNetwork> start_network(const std::string& name) {
  ISOMER_TRY(Graph graph, build_model(name));
  const Model model = make_model(std::move(graph), name, kNetworkOpset);
  ISOMER_TRY(const std::vector<Rule> rules, folding_rules());
  Candidate folded = model.graph;
  for (const Rule& rule : rules)
    if (auto next = apply_exhaustively(folded, rule); next.after) folded = std::move(*next.after);
  Preparation preparation(model);
  preparation.fold_until(Deadline::never());
  ISOMER_TRY(folded, preparation.prepare(folded));
  return StartNetwork{name, make_model(std::move(folded.graph), name, kNetworkOpset)};
}

Result<Searched> search_by_roofline(const StartNetwork& network, std::span<const Rule> rules,
                                    const RooflineOptions& device, SearchOptions search, const ReproOptions& options) {
  RooflineCost costs({}, device);
  return search_by_costs(network, rules, costs, std::move(search), options);
}

Result<Searched> search_by_costs(const StartNetwork& network, std::span<const Rule> rules, CostModel& costs,
                                 SearchOptions search, const ReproOptions& options) {
  search.search_memory = options.search_memory;
  search.time_budget_seconds = options.time_budget_seconds;
  search.search_threads = 1;  // so that processor time can be compared
  Budget budget = search.budget();
  budget.end = budget.end.undivided();
  const Objective latency;
  Preparation preparation(network.model);
  preparation.fold_until(budget.end);
  CostEvaluator evaluator(costs, latency, nullptr, &preparation);
  Observer observer = options.observer;
  observer.progress = [&](const std::string& text) { options.observer.progress(network.name + ": " + text); };
  const SearchContext context{
      .rules = rules, .tactics = {}, .evaluator = evaluator, .budget = budget, .observer = observer};
  costs.measure_until(budget.end);
  const Candidate first = network.model.graph;
  const double began = cpu_seconds_now();
  SearchResult found = search_unmeasured(first, part_search(search.search), search, context);
  Searched out{.cpu_seconds = cpu_seconds_now() - began};
  ISOMER_TRY(out.before, costs.metrics(first));
  ISOMER_TRY(out.after, costs.metrics(found));
  out.layouts = found.decisions.layouts.size();
  out.report = std::move(found.report);
  if (!out.report.rejected.empty() && out.report.steps.empty() && !out.improved())
    return fail("{}: the result was dropped: {}", network.name, out.report.rejected.front().reason);
  return out;
}

SearchOptions unlimited(const std::string& search) {
  SearchOptions options;
  options.search = search;
  options.max_uphill = 0;
  options.max_growth = 0;
  options.split = 0;
  options.max_candidates = std::numeric_limits<int64_t>::max();
  return options;
}

SearchOptions backtracking(double alpha, int64_t split, int64_t graphs) {
  SearchOptions options = unlimited("backtrack");
  options.alpha = alpha;
  options.split = split;
  options.max_candidates = graphs;
  return options;
}

}  // namespace isomer
