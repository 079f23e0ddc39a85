#include "isomer/search/autograph.h"

#include <algorithm>
#include <deque>
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
/// Smaller ratios of costs are rounding errors.
constexpr double kMinRatio = 1 + 1e-9;

/// A graph that was found, and the steps from the first one to it.
struct Found : Candidate {
  std::vector<SearchStep> steps = {};
  Metrics metrics = {};  // of the whole
  double cost = 0;       // mixed, of the whole
  double speedup = 1;    // over the first graph
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
  Autograph(const Candidate& first, const SearchOptions& options, const SearchContext& context, bool known_better)
      : first_(first),
        options_(options),
        context_(context),
        end_(context.budget.end),
        search_(part_search_of(options)),
        mixed_(context.evaluator, options.critical_path_weight),
        best_{first},
        known_better_(known_better) {
    report_.algorithm = kName;
  }

  SearchResult run() {
    tried_.insert(first_.hash());
    measured_.insert(first_.hash());
    std::vector<Found> queue{best_};
    while (!queue.empty() && !end_.passed()) {
      const auto fastest = std::ranges::max_element(queue, {}, &Found::speedup);
      const Found from = std::move(*fastest);
      queue.erase(fastest);
      if (const auto status = search_from(from, kTimeShares.autograph, queue); !status) {
        report_.reject(kName, status.error());
        break;
      }
    }
    if (context_.evaluator.costs_decide()) prepare_best();
    if (end_.passed()) report_.stop_reason = end_.reason();
    if (report_.stop_reason.empty()) report_.stop_reason = "exhausted";
    report_.seconds = watch_.seconds();
    report_.steps = std::move(best_.steps);
    return {std::move(best_), std::move(report_)};
  }

 private:
  /// Searches from a graph for this share of the time that is left. Each graph that becomes the best goes to the queue.
  /// If there is none, and the share ended before the search did, searches once more with a larger share.
  Status search_from(const Found& from, double share, std::vector<Found>& queue) {
    const Budget budget = context_.budget.share(share);
    report_.stop_reason.clear();  // that of the last round counts
    ISOMER_TRY(std::vector<Found> found, graphs_from(from, budget));
    const bool cut_off = budget.end.passed();
    const size_t before = queue.size();
    for (Found& one : found)
      if (can_compare() && becomes_best(one)) queue.push_back(best_);
    if (end_.stopped() && !found.empty()) take_unmeasured(std::move(found.front()));
    const bool once_more = queue.size() == before && share < kTimeShares.autograph_again && cut_off && !end_.passed();
    return once_more ? search_from(from, kTimeShares.autograph_again, queue) : Status();
  }

  /// Whether graphs can still be compared; costs are known at any time.
  bool can_compare() const { return context_.evaluator.costs_decide() ? !end_.stopped() : !end_.passed(); }

  /// After an interrupt, the final confirmation decides about a graph, unless a better one than the first is known.
  void take_unmeasured(Found found) {
    if (known_better_ || best_.hash() != first_.hash()) return;
    if (improves(found) && make_ready(context_.evaluator, found)) best_ = std::move(found);
  }

  bool improves(const Found& found) {
    const auto before = mixed_.cost(first_);
    return before && found.cost < *before;
  }

  /// Returns the graphs that are to be measured, those with the lowest cost first.
  Result<std::vector<Found>> graphs_from(const Found& from, const Budget& budget) {
    const TraceScope scope(context_.observer.trace, "search parts", "search");
    const PartsOptions how{.search = search_,
                           .layouts = layout_time(options_.layout),
                           .limits = {.budget = budget,
                                      .max_growth = options_.max_growth,
                                      .max_length = options_.length_limit(),
                                      .others = kOthers},
                           .threads = options_.threads(),
                           .observer = context_.observer};
    PartSearcher searcher(context_.rules, mixed_, how, report_);
    const std::vector<Match> matches = all_matches(from.graph, context_.rules, SIZE_MAX, budget.end);
    const Split split =
        split_graph(from.graph, matches, static_cast<size_t>(options_.autograph_split), budget.end, Capacity::At);
    ISOMER_TRY(const std::deque<PartRun> runs, runs_of(from, split, searcher));
    return joined(from, runs, split.parts.size());
  }

  /// Searches each part, and then each run of neighboring parts that is not too large.
  Result<std::deque<PartRun>> runs_of(const Candidate& whole, const Split& split, PartSearcher& searcher) {
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
          all.emplace_back(PartRun{begin, begin + length}, std::move(nodes));
      }
      if (all.size() == before) break;
    }
    std::deque<PartSearcher::SharedTask> tasks;
    for (auto& [run, nodes] : all) {
      if (tasks.size() >= split.parts.size() && end_.passed()) break;  // runs of several parts may be missing
      tasks.push_back(searcher.task_of(whole, values, std::move(nodes), tasks.size() + 1, all.size()));
    }
    searcher.search_ahead(tasks);
    std::deque<PartRun> runs;
    for (size_t i = 0; i < tasks.size(); ++i) {
      PartRun& run = runs.emplace_back(std::move(all[i].first));
      run.task = tasks[i];
      auto found = searcher.search(*run.task, fmt::format("run {} of {}", i + 1, all.size()));
      if (!found) report_.reject(kName, found.error());  // a kernel that its border cuts cannot be measured
      run.found = found ? std::move(*found) : FoundCandidate{run.task->part};
    }
    return runs;
  }

  /// Returns the whole graphs that the best sequences of runs make, without those that were tried. If time has ended,
  /// only up to the first that improves: the sum of the changes of runs promises no improvement of the whole.
  std::vector<Found> joined(const Found& from, const std::deque<PartRun>& runs, size_t parts) {
    std::vector<PartChoice> choices;
    std::vector<RunGraph> graphs;
    const auto add = [&](const PartRun& run, const FoundCandidate* graph) {
      const double change = graph == nullptr ? 0 : graph->cost_after - graph->cost_before;
      choices.push_back({run.begin, run.end, change});
      graphs.push_back({&run, graph});
    };
    for (const PartRun& run : runs) {
      if (run.end == run.begin + 1) add(run, nullptr);
      if (run.found.hash() != run.task->part.hash()) add(run, &run.found);
      for (const FoundCandidate& other : run.found.others) add(run, &other);
    }
    const auto top = static_cast<size_t>(options_.autograph_top);
    std::vector<Found> out;
    std::set<uint64_t> seen = tried_;
    for (const PartSequence& sequence : best_sequences(parts, choices, kSequencesPerGraph * top)) {
      if (end_.passed() && !out.empty() && improves(out.back())) break;
      std::vector<FoundPart> changed;
      for (const size_t choice : sequence.choices)
        if (graphs[choice].graph != nullptr) changed.push_back({&graphs[choice].run->task->part, graphs[choice].graph});
      Found whole{splice(from, changed), from.steps};
      if (!seen.insert(whole.hash()).second) continue;
      const auto metrics = mixed_.costs()->metrics(whole);
      if (!metrics) continue;  // a kernel that crosses the border of two runs cannot be measured
      whole.metrics = *metrics;
      whole.cost = mixed_.objective(*metrics);
      append_steps(from.graph, changed, whole.graph.hash(), whole.steps);
      join_steps(std::span(whole.steps).subspan(from.steps.size()), change_of_objective(from, *metrics));
      out.push_back(std::move(whole));
    }
    report_.candidates += std::ssize(out);
    keep_top(out, top);
    for (const Found& one : out) tried_.insert(one.hash());
    return out;
  }

  CostChange change_of_objective(const Candidate& from, const Metrics& after) {
    const auto before = context_.evaluator.cost(from);
    return before ? CostChange(*before, context_.evaluator.objective(after)) : CostChange();
  }

  /// Keeps the graphs with the lowest costs. Of those whose costs are equal in every respect, such as graphs in which
  /// one of several equal blocks is another one, only the first is kept.
  static void keep_top(std::vector<Found>& graphs, size_t top) {
    std::ranges::stable_sort(graphs, {}, &Found::cost);
    const auto alike = [](const Found& a, const Found& b) {
      return equal_costs(a.cost, b.cost) && equal_costs(a.metrics.latency_us, b.metrics.latency_us) &&
             equal_costs(a.metrics.critical_path_us, b.metrics.critical_path_us);
    };
    graphs.erase(std::ranges::unique(graphs, alike).begin(), graphs.end());
    if (graphs.size() > top) graphs.erase(graphs.begin() + static_cast<std::ptrdiff_t>(top), graphs.end());
  }

  /// Compares a graph with the best one, which it becomes if it is faster. False also if that has been done before.
  bool becomes_best(Found& found) {
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
    if (ratio->low <= kMinRatio) return false;
    best_ = std::move(found);
    report_.progress.push_back({watch_.seconds(), context_.evaluator.objective(best_.metrics)});
    return true;
  }

  void note(const Found& found, const Interval& ratio) {
    const auto kernels = mixed_.costs()->kernels(found);
    if (!kernels) return;
    const auto schedule = simulate(kernel_tasks(found.graph, *kernels, static_cast<uint32_t>(context_.cores)).graph);
    if (!schedule) return;
    report_.measured.push_back({.hash = found.hash(),
                                .latency_us = found.metrics.latency_us,
                                .critical_path_us = found.metrics.critical_path_us,
                                .makespan_us = in_microseconds(schedule->makespan),
                                .cost = found.cost,
                                .speedup = {found.speedup, best_.speedup * ratio.low, best_.speedup * ratio.high}});
  }

  void prepare_best() {
    auto prepared = context_.evaluator.prepare(best_);
    if (!prepared) report_.reject(kName, prepared.error());
    if (prepared)
      static_cast<Candidate&>(best_) = std::move(*prepared);
    else
      best_ = {first_};
  }

  static constexpr size_t kOthers = 4;             // graphs of a run, in addition to the best
  static constexpr size_t kSequencesPerGraph = 4;  // several can make the same graph

  const Candidate& first_;
  const SearchOptions& options_;
  const SearchContext& context_;
  const Deadline& end_;
  const Stopwatch watch_;
  const PartSearch search_;
  MixedCost mixed_;
  Found best_;
  const bool known_better_;
  std::set<uint64_t> tried_;     // hashes of graphs before their constants are folded
  std::set<uint64_t> measured_;  // and of graphs that were compared
  SearchReport report_;
};

}  // namespace

SearchResult autograph_search(const Candidate& first, const SearchOptions& options, const SearchContext& context,
                              bool known_better) {
  return Autograph(first, options, context, known_better).run();
}

}  // namespace isomer
