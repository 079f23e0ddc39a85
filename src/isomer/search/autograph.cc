#include "isomer/search/autograph.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <set>
#include <utility>

#include "isomer/base/stopwatch.h"
#include "isomer/cost/kernel_tasks.h"
#include "isomer/plan/simulate.h"
#include "isomer/search/backtrack.h"
#include "isomer/search/join_parts.h"
#include "isomer/search/matches.h"
#include "isomer/search/mixed_cost.h"
#include "isomer/search/part_searcher.h"
#include "isomer/search/sequence_of_parts.h"
#include "isomer/search/split.h"

namespace isomer {
namespace {

constexpr const char* kName = "autograph";

/// A graph that was found, and the steps from the first one to it.
struct Found : Candidate {
  std::vector<SearchStep> steps = {};
  double cost = 0;     // mixed, of the whole
  double speedup = 1;  // over the first graph
};

/// A run of neighboring parts, and what was found for it.
struct PartRun {
  size_t begin = 0;
  size_t end = 0;
  PartSearcher::SharedTask task = nullptr;
  FoundCandidate found = {};
};

/// One of the graphs of a run; nullptr: it stays as it is.
struct RunGraph {
  const PartRun* run = nullptr;
  const FoundCandidate* graph = nullptr;
};

PartSearch part_search_of(const SearchOptions& options) {
  return [beta = options.beta, max_uphill = options.max_uphill](const Candidate& part, std::span<const Rule> rules,
                                                                const CandidateCost& cost, const SearchLimits& limits) {
    return backtrack(part, rules, cost, {.alpha = beta, .max_uphill = max_uphill, .limits = limits});
  };
}

class Autograph {
 public:
  Autograph(const Candidate& first, const SearchOptions& options, const SearchContext& context)
      : options_(options),
        context_(context),
        end_(context.budget.end),
        search_(part_search_of(options)),
        mixed_(context.evaluator, options.critical_path_weight),
        best_{first} {
    report_.algorithm = kName;
  }

  SearchResult run() {
    const Candidate first = best_;
    measured_.insert(first.hash());
    std::vector<Found> queue{best_};
    while (!queue.empty() && !end_.passed()) {
      const auto fastest = std::ranges::max_element(queue, {}, &Found::speedup);
      const Found from = std::exchange(*fastest, std::move(queue.back()));
      queue.pop_back();
      auto found = graphs_from(from);
      if (!found) report_.reject(kName, found.error());
      if (!found) break;
      for (Found& one : *found)
        if (!end_.passed() && is_faster(one)) queue.push_back(best_);
    }
    if (context_.evaluator.costs_decide()) prepare_best(first);
    if (end_.passed()) report_.stop_reason = end_.reason();
    if (report_.stop_reason.empty()) report_.stop_reason = "exhausted";
    report_.seconds = watch_.seconds();
    report_.steps = std::move(best_.steps);
    return {std::move(best_), std::move(report_)};
  }

 private:
  /// Returns the graphs that are to be measured, those with the lowest cost first.
  Result<std::vector<Found>> graphs_from(const Found& from) {
    const TraceScope scope(context_.observer.trace, "search parts", "search");
    const Budget share = context_.budget.share(kTimeShares.autograph);
    const PartsOptions how{.search = search_,
                           .layouts = layout_time(options_.layout),
                           .limits = {.budget = share,
                                      .max_growth = options_.max_growth,
                                      .max_length = options_.length_limit(),
                                      .others = kOthers},
                           .threads = options_.threads(),
                           .observer = context_.observer};
    PartSearcher searcher(context_.rules, mixed_, how, report_);
    const std::vector<Match> matches = all_matches(from.graph, context_.rules, SIZE_MAX, share.end);
    const Split split =
        split_graph(from.graph, matches, static_cast<size_t>(options_.autograph_split), share.end, Capacity::At);
    ISOMER_TRY(std::deque<PartRun> runs, runs_of(from, split, searcher));
    return joined(from, runs, split.parts.size());
  }

  /// Searches each part, and then each run of neighboring parts that is not too large.
  Result<std::deque<PartRun>> runs_of(const Candidate& whole, const Split& split, PartSearcher& searcher) const {
    ISOMER_TRY(const WholeValues values, searcher.values_of(whole));
    std::vector<std::pair<PartRun, std::vector<NodeId>>> all;
    for (size_t length = 1; length <= split.parts.size(); ++length) {
      const size_t before = all.size();
      for (size_t begin = 0; begin + length <= split.parts.size(); ++begin) {
        std::vector<NodeId> nodes;
        for (size_t i = begin; i < begin + length; ++i)
          nodes.insert(nodes.end(), split.parts[i].begin(), split.parts[i].end());
        std::ranges::sort(nodes);
        if (length == 1 || nodes.size() <= static_cast<size_t>(options_.autograph_merge))
          all.push_back({{begin, begin + length}, std::move(nodes)});
      }
      if (all.size() == before) break;
    }
    std::deque<PartSearcher::SharedTask> tasks;
    for (auto& [run, nodes] : all)
      tasks.push_back(searcher.task_of(whole, values, std::move(nodes), tasks.size() + 1, all.size()));
    searcher.search_ahead(tasks);
    std::deque<PartRun> runs;
    for (size_t i = 0; i < all.size(); ++i) {
      PartRun& run = runs.emplace_back(std::move(all[i].first));
      run.task = tasks[i];
      ISOMER_TRY(run.found, searcher.search(*run.task, fmt::format("run {} of {}", i + 1, all.size())));
    }
    return runs;
  }

  /// Returns the whole graphs that the best sequences of runs make, without those that were measured.
  Result<std::vector<Found>> joined(const Found& from, const std::deque<PartRun>& runs, size_t parts) {
    std::vector<PartChoice> choices;
    std::vector<RunGraph> graphs;
    const auto add = [&](const PartRun& run, const FoundCandidate* graph) {
      const double change = graph == nullptr ? 0 : graph->cost_after - graph->cost_before;
      choices.push_back({run.begin, run.end, change});
      graphs.push_back({&run, graph});
    };
    for (const PartRun& run : runs) {
      if (run.end == run.begin + 1) add(run, nullptr);
      if (!run.found.report.steps.empty()) add(run, &run.found);
      for (const FoundCandidate& other : run.found.others) add(run, &other);
    }
    const auto top = static_cast<size_t>(options_.autograph_top);
    std::vector<Found> out;
    std::set<uint64_t> seen = measured_;
    for (const PartSequence& sequence : best_sequences(parts, choices, kSequencesPerGraph * top)) {
      std::vector<FoundPart> changed;
      for (const size_t choice : sequence.choices)
        if (graphs[choice].graph != nullptr) changed.push_back({&graphs[choice].run->task->part, graphs[choice].graph});
      Found whole{splice(from, changed), from.steps};
      if (!seen.insert(whole.hash()).second) continue;
      const auto cost = mixed_.cost(whole);
      if (!cost) continue;  // a kernel that crosses the border of two runs cannot be measured
      whole.cost = *cost;
      append_steps(from.graph, changed, whole.graph.hash(), whole.steps);
      out.push_back(std::move(whole));
    }
    report_.candidates += std::ssize(out);
    std::ranges::stable_sort(out, {}, &Found::cost);
    // Of graphs that consist of equal kernels, such as those in which one of several equal blocks is another one, the
    // first is measured.
    const auto equal = [](const Found& a, const Found& b) { return b.cost - a.cost <= kRounding * std::abs(b.cost); };
    out.erase(std::ranges::unique(out, equal).begin(), out.end());
    if (out.size() > top) out.erase(out.begin() + static_cast<std::ptrdiff_t>(top), out.end());
    return out;
  }

  /// Measures a graph, unless it has been. If it is faster than the best one, it becomes the best.
  bool is_faster(Found& found) {
    if (const auto status = make_ready(context_.evaluator, found); !status) {
      report_.reject(kName, status.error());
      return false;
    }
    if (!measured_.insert(found.hash()).second) return false;
    context_.observer.progress("measuring what the search found");
    const auto ratio = measure_closely(context_.evaluator, best_, found, 1, end_);
    if (!ratio) report_.reject(kName, ratio.error());
    if (!ratio) return false;
    found.speedup = best_.speedup * ratio->value;
    note(found, *ratio);
    if (ratio->low <= 1) return false;
    best_ = std::move(found);
    report_.progress.push_back({watch_.seconds(), best_.cost});
    return true;
  }

  void note(const Found& found, const Interval& ratio) {
    const auto metrics = mixed_.costs()->metrics(found);
    const auto kernels = mixed_.costs()->kernels(found);
    if (!metrics || !kernels) return;
    const auto schedule = simulate(kernel_tasks(found.graph, *kernels, static_cast<uint32_t>(context_.cores)));
    report_.measured.push_back({.hash = found.hash(),
                                .latency_us = metrics->latency_us,
                                .critical_path_us = metrics->critical_path_us,
                                .makespan_us = 1e-3 * static_cast<double>(schedule->makespan),
                                .cost = found.cost,
                                .speedup = {found.speedup, best_.speedup * ratio.low, best_.speedup * ratio.high}});
  }

  void prepare_best(const Candidate& first) {
    auto prepared = context_.evaluator.prepare(best_);
    if (prepared) {
      static_cast<Candidate&>(best_) = std::move(*prepared);
    } else {
      report_.reject(kName, prepared.error());
      best_ = {first};
    }
  }

  static constexpr double kRounding = 1e-12;       // of sums of equal costs, relative to the sum
  static constexpr size_t kOthers = 4;             // graphs of a run besides the best
  static constexpr size_t kSequencesPerGraph = 4;  // several can make the same graph

  const SearchOptions& options_;
  const SearchContext& context_;
  const Deadline& end_;
  const Stopwatch watch_;
  const PartSearch search_;
  MixedCost mixed_;
  Found best_;
  std::set<uint64_t> measured_;
  SearchReport report_;
};

}  // namespace

SearchResult autograph_search(const Candidate& first, const SearchOptions& options, const SearchContext& context) {
  return Autograph(first, options, context).run();
}

}  // namespace isomer
