#include "isomer/optimize/searches.h"

#include <limits>

#include "isomer/search/greedy.h"
#include "isomer/search/metaflow.h"
#include "isomer/search/simplify.h"

namespace isomer {
namespace {

/// Adds what a later search did to the report of an earlier one.
void append(SearchReport& report, SearchReport next) {
  report.algorithm = report.algorithm.empty() ? next.algorithm : report.algorithm + ", " + next.algorithm;
  report.stop_reason = next.stop_reason;
  report.candidates += next.candidates;
  report.duplicates += next.duplicates;
  report.matches += next.matches;
  report.seconds += next.seconds;
  for (SearchStep& step : next.steps) report.steps.push_back(std::move(step));
  for (Rejection& one : next.rejected) report.rejected.push_back(std::move(one));
}

Result<SearchResult> greedy(const Graph& graph, const SearchOptions& options, const SearchContext& context) {
  return greedy_search(graph, context.rules, context.oracle,
                       {.time_budget_seconds = options.time_budget_seconds,
                        .tactics = context.tactics,
                        .symbols = context.symbols,
                        .prepare = context.prepare,
                        .progress = context.progress});
}

Result<SearchResult> metaflow(const Graph& graph, const SearchOptions& options, const SearchContext& context) {
  const bool whole = options.search == "enumerate" || options.split == 0;
  MetaflowOptions metaflow{
      .alpha = options.search == "enumerate" ? std::numeric_limits<double>::infinity() : options.alpha,
      .split = whole ? std::numeric_limits<size_t>::max() : static_cast<size_t>(options.split),
      .max_candidates = options.search == "enumerate" ? std::numeric_limits<int64_t>::max() : options.max_candidates,
      .time_budget_seconds = options.time_budget_seconds,
      .objective = context.objective,
      .admits = context.admits,
      .progress = context.progress};
  return metaflow_search(graph, context.rules, context.costs, metaflow);
}

}  // namespace

const std::vector<std::string>& search_names() {
  static const std::vector<std::string> names{"auto", "greedy", "backtrack", "enumerate"};
  return names;
}

Result<SearchResult> run_search(const Graph& graph, const SearchOptions& options, const SearchContext& context) {
  SearchResult out{graph, {}};
  if (options.search == "auto" || options.search == "greedy") {
    ISOMER_TRY(SearchResult found, greedy(out.graph, options, context));
    out.graph = std::move(found.graph);
    append(out.report, std::move(found.report));
  }
  if (options.search == "backtrack") {
    ISOMER_TRY(out.graph, context.prepare(out.graph));
    SearchResult simple = simplify(out.graph, context.rules, context.symbols);
    ISOMER_TRY(out.graph, context.prepare(simple.graph));
    append(out.report, std::move(simple.report));
  }
  if (options.search != "greedy") {
    ISOMER_TRY(SearchResult found, metaflow(out.graph, options, context));
    append(out.report, std::move(found.report));
    ISOMER_TRY(out.graph, context.prepare(found.graph));
  }
  return out;
}

}  // namespace isomer
