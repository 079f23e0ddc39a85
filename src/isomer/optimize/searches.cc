#include "isomer/optimize/searches.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "isomer/base/deadline.h"
#include "isomer/search/greedy.h"
#include "isomer/search/metaflow.h"
#include "isomer/search/simplify.h"

namespace isomer {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Adds what a later search did, which began after `began` seconds, to the report of an earlier one.
void append(SearchReport& report, SearchReport next, double began) {
  report.algorithm = report.algorithm.empty() ? next.algorithm : report.algorithm + ", " + next.algorithm;
  report.stop_reason = next.stop_reason;
  report.candidates += next.candidates;
  report.duplicates += next.duplicates;
  report.matches += next.matches;
  report.seconds += next.seconds;
  for (SearchStep& step : next.steps) report.steps.push_back(std::move(step));
  for (Rejection& one : next.rejected) report.rejected.push_back(std::move(one));
  for (const SearchProgress& one : next.progress) report.progress.push_back({began + one.seconds, one.cost});
}

/// What a graph costs; nothing where a kernel of it cannot be measured.
std::optional<double> objective_of(const Graph& graph, const SearchContext& context) {
  const auto metrics = context.costs.metrics(graph);
  return metrics ? std::optional(context.objective(*metrics)) : std::nullopt;
}

Result<SearchResult> greedy(const Graph& graph, Oracle& oracle, const Deadline& end, const SearchContext& context) {
  return greedy_search(graph, context.rules, oracle,
                       {.deadline = end,
                        .tactics = context.tactics,
                        .symbols = context.symbols,
                        .prepare = context.prepare,
                        .refused = context.refused,
                        .cost = [&](const Graph& g) { return objective_of(g, context); },
                        .progress = context.progress,
                        .trace = context.trace});
}

/// Back to the graph that a search began with.
void drop(SearchResult& result, const Graph& graph) {
  result.graph = graph;
  result.report.steps.clear();
  result.report.progress.clear();
}

/// Greedy by the costs alone: one measurement for all its steps, where every run of a large model takes seconds. Its
/// graph is `graph` itself when what it found is not measured to be faster. Without time for that, the final
/// confirmation decides.
Result<SearchResult> foreseen(const Graph& graph, const Deadline& search_end, const Deadline& end,
                              const SearchContext& context) {
  TraceScope scope(context.trace, "greedy by costs", "search");
  ISOMER_TRY(SearchResult found, greedy(graph, *context.foresight, search_end, context));
  found.report.algorithm += " by costs";
  if (found.graph.hash() == graph.hash()) return found;
  if (end.passed()) return found;
  context.progress("measuring what the costs promise");
  const auto ratio = look_closely(context.oracle, graph, found.graph, 1, end);
  if (!ratio) found.report.rejected.push_back({found.report.algorithm, ratio.error().message});
  if (ratio && ratio->low > 1) {
    for (SearchStep& step : found.report.steps) step.speedup = 0;
  } else {
    drop(found, graph);
  }
  return found;
}

/// Of two results for `graph` that both differ from it, drops the slower one.
void drop_slower(const Graph& graph, SearchResult& promised, SearchResult& stepwise, const SearchContext& context,
                 const Deadline& end) {
  if (promised.graph.hash() == graph.hash()) return;
  if (stepwise.graph.hash() == promised.graph.hash() || stepwise.graph.hash() == graph.hash())
    return drop(stepwise, graph);
  const auto ratio = look_closely(context.oracle, promised.graph, stepwise.graph, 1, end);
  drop(ratio && ratio->value > 1 ? promised : stepwise, graph);
}

/// A prepared graph simplified and prepared again; as often as that finds weights that cannot be folded, without the
/// places that make them.
SearchResult simplified(const Graph& graph, const Deadline& end, const SearchContext& context) {
  for (;;) {
    SearchResult out = simplify(graph, context.rules, context.symbols, end, context.refused);
    const auto refused = [&] { return context.refused == nullptr ? 0 : context.refused->size(); };
    const size_t known = refused();
    auto prepared = context.prepare(out.graph);
    if (refused() != known) continue;
    if (!prepared) out.report.rejected.push_back({"simplification", prepared.error().message});
    if (!prepared) drop(out, graph);
    if (prepared) out.graph = std::move(*prepared);
    return out;
  }
}

Result<SearchResult> metaflow(const Graph& graph, std::span<const Rule> rules, const SearchOptions& options,
                              const Deadline& end, const SearchContext& context) {
  const bool all = options.search == "enumerate";
  const MetaflowOptions metaflow{
      .alpha = all ? std::numeric_limits<double>::infinity() : options.alpha,
      .most_unpaid = all ? 0 : MetaflowOptions().most_unpaid,
      .split = all || options.split == 0 ? std::numeric_limits<size_t>::max() : static_cast<size_t>(options.split),
      .max_candidates = all ? std::numeric_limits<int64_t>::max() : options.max_candidates,
      .deadline = end,
      .objective = context.objective,
      .admits = context.admits,
      .foldable = context.foldable,
      .refused = context.refused,
      .progress = context.progress,
      .trace = context.trace};
  const TraceScope scope(context.trace, "search parts", "search");
  ISOMER_TRY(SearchResult found, metaflow_search(graph, rules, context.costs, metaflow));
  auto prepared = context.prepare(found.graph);
  if (prepared) {
    found.graph = std::move(*prepared);
  } else {
    found.report.rejected.push_back({"backtrack", prepared.error().message});
    drop(found, graph);
  }
  return found;
}

/// Measures the kernels of the graph. Where that takes more than half of the time, no candidate gets a predicted cost,
/// and the rest of the time goes to whole candidates. An Error where a kernel was not measured.
Status measure_kernels(const Graph& graph, const Deadline& end, const SearchContext& context) {
  const Deadline half = end.within(end.left() / 2);
  context.costs.measure_until(half);
  Status known = context.costs.metrics(graph).map([](const Metrics&) {});
  context.costs.measure_until(known || !half.passed() ? end : half);
  return known;
}

/// The rules that a search used, those first that changed the cost most.
std::vector<std::string> rules_by_gain(const SearchReport& report) {
  std::map<std::string, double> gains;
  for (const SearchStep& step : report.steps) gains[step.rule] += std::abs(step.delta);
  std::vector<std::string> names;
  names.reserve(gains.size());
  for (const auto& [name, gain] : gains) names.push_back(name);
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return gains[a] > gains[b]; });
  return names;
}

/// What is left of MetaFlow's search where a kernel of the graph cannot be measured, or not in time.
SearchResult without_costs(const Graph& graph, const Error& error, const Deadline& end) {
  SearchResult none{graph, {.algorithm = "backtrack", .stop_reason = end.passed() ? end.reason() : "no costs"}};
  none.report.rejected.push_back({"backtrack", error.message});
  return none;
}

/// MetaFlow's search, and again without each of the rules that it used most: costs are of kernels one by one, and a
/// rule whose effect they misjudge must not spoil the rest. The oracle says which result is the best, and whether it
/// beats `graph` at all.
Result<SearchResult> judged_metaflow(const Graph& graph, const SearchOptions& options, const Deadline& end,
                                     const SearchContext& context) {
  constexpr size_t kVariants = 4;
  // The rest of the time is for measuring what was found.
  constexpr double kSearchShare = 0.7;
  const TraceScope scope(context.trace, "backtrack", "search");
  const auto start = std::chrono::steady_clock::now();
  if (end.passed()) return SearchResult{graph, {.algorithm = "backtrack", .stop_reason = end.reason()}};
  const double seconds = end.left();
  const Deadline for_variants = end.within(seconds / 2);
  auto found = metaflow(graph, context.rules, options, end.within(kSearchShare * seconds), context);
  if (!found) return without_costs(graph, found.error(), end);
  SearchResult first = std::move(*found);
  SearchResult out{graph, first.report};
  out.report.steps.clear();
  double best = 1;
  std::set<uint64_t> seen{graph.hash()};
  const auto judge = [&](SearchResult& candidate) {
    if (!seen.insert(candidate.graph.hash()).second) return;
    // After an interrupt, the final confirmation decides, unless there is something that is known to be better.
    const bool unmeasured = end.stopped() && options.search == "backtrack";
    if (!unmeasured) {
      context.progress("measuring what the search found");
      const auto ratio = look_closely(context.oracle, graph, candidate.graph, best, end);
      if (!ratio) out.report.rejected.push_back({candidate.report.algorithm, ratio.error().message});
      if (!ratio || ratio->low <= 1 || ratio->value <= best) return;
      best = ratio->value;
    }
    out.graph = std::move(candidate.graph);
    out.report.steps = std::move(candidate.report.steps);
    if (const auto cost = objective_of(out.graph, context))
      out.report.progress.push_back({seconds_since(start), *cost});
  };
  const std::vector<std::string> used = rules_by_gain(first.report);
  judge(first);
  for (size_t i = 0; i < std::min(kVariants, used.size()) && used.size() > 1; ++i) {
    if (for_variants.passed()) break;
    std::vector<Rule> others;
    for (const Rule& rule : context.rules)
      if (rule.name != used[i]) others.push_back(rule);
    auto variant = metaflow(graph, others, options, end, context);
    if (!variant) break;  // a kernel could not be measured in time
    out.report.candidates += variant->report.candidates;
    out.report.duplicates += variant->report.duplicates;
    out.report.matches += variant->report.matches;
    out.report.seconds += variant->report.seconds;
    judge(*variant);
  }
  return out;
}

}  // namespace

const std::vector<std::string>& search_names() {
  static const std::vector<std::string> names{"auto", "greedy", "backtrack", "enumerate"};
  return names;
}

Result<SearchResult> run_search(const Graph& graph, const SearchOptions& options, const SearchContext& context) {
  // What greedy's share does not suffice for, backtracking may still find.
  constexpr double kGreedyShare = 0.7;
  constexpr double kForesightShare = 0.25;
  const auto start = std::chrono::steady_clock::now();
  const Deadline end = context.deadline.within(options.time_budget_seconds);
  const double seconds = end.left();
  const Status measured = measure_kernels(graph, end, context);
  SearchResult out{graph, {}};
  const Deadline greedy_end = end.within((options.search == "auto" ? kGreedyShare : 1) * seconds);
  SearchResult promised{graph, {}};
  if (options.search == "auto" && context.foresight != nullptr) {
    const Deadline foresight_end = end.within(kForesightShare * seconds);
    ISOMER_TRY(promised, foreseen(graph, foresight_end, greedy_end, context));
  }
  if (options.search == "auto" || options.search == "greedy") {
    const double began = seconds_since(start);
    const TraceScope scope(context.trace, "greedy", "search");
    ISOMER_TRY(SearchResult stepwise, greedy(graph, context.oracle, greedy_end, context));
    drop_slower(graph, promised, stepwise, context, end);
    out.graph = promised.graph.hash() != graph.hash() ? promised.graph : stepwise.graph;
    append(out.report, std::move(promised.report), 0);
    append(out.report, std::move(stepwise.report), began);
  }
  if (options.search == "backtrack") {
    const TraceScope scope(context.trace, "simplify", "search");
    ISOMER_TRY(out.graph, context.prepare(out.graph));
    const auto before = objective_of(out.graph, context);
    SearchResult simple = simplified(out.graph, end, context);
    out.graph = std::move(simple.graph);
    const auto after = objective_of(out.graph, context);
    join_steps(simple.report.steps, before && after ? *after - *before : 0);
    append(out.report, std::move(simple.report), 0);
    if (before) out.report.progress.push_back({0, *before});
    if (after) out.report.progress.push_back({seconds_since(start), *after});
  }
  if (options.search == "enumerate") {
    const double began = seconds_since(start);
    if (const auto cost = objective_of(out.graph, context)) out.report.progress.push_back({began, *cost});
    auto found = metaflow(out.graph, context.rules, options, end, context);
    if (!found) found = without_costs(out.graph, found.error(), end);
    out.graph = std::move(found->graph);
    append(out.report, std::move(found->report), began);
    if (const auto cost = objective_of(out.graph, context))
      out.report.progress.push_back({seconds_since(start), *cost});
  } else if (options.search != "greedy") {
    const double began = seconds_since(start);
    ISOMER_TRY(SearchResult found, judged_metaflow(out.graph, options, end, context));
    out.graph = std::move(found.graph);
    append(out.report, std::move(found.report), began);
  }
  // Else what the engine cannot measure had no candidates either, and passes unchanged.
  if (!measured && end.passed() && out.report.rejected.empty())
    out.report.rejected.push_back({"costs", measured.error().message});
  if (end.stopped()) out.report.stop_reason = end.reason();
  out.report.seconds = seconds_since(start);
  return out;
}

}  // namespace isomer
