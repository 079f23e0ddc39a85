#include "isomer/search/greedy.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "isomer/search/everywhere.h"
#include "isomer/search/match_classes.h"
#include "isomer/search/simplify.h"
#include "isomer/search/step.h"
#include "isomer/search/tactic.h"

namespace isomer {
namespace {

/// A graph that may follow the current one: a tactic, or a rule at some of its places. Judged ones are simplified and
/// prepared.
struct Candidate {
  Graph graph;
  std::vector<SearchStep> steps;
};

class Greedy {
 public:
  Greedy(std::span<const Rule> rules, Oracle& oracle, const GreedyOptions& options)
      : rules_(rules), oracle_(oracle), options_(options) {}

  Result<SearchResult> run(const Graph& graph) {
    ISOMER_TRY(Graph current, options_.prepare(graph));
    report_.algorithm = "greedy";
    ISOMER_CHECK(start(current));
    most_flops_ = options_.most_work * flops(current);
    seen_.insert(current.hash());
    for (;;) {
      auto best = best_step(current);
      if (!best) break;
      take(current, std::move(*best));
    }
    report_.stop_reason = out_of_time() ? "time budget" : "exhausted";
    report_.seconds = elapsed();
    return SearchResult{std::move(current), std::move(report_)};
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  bool out_of_time() const { return elapsed() > options_.time_budget_seconds; }
  double flops(const Graph& graph) const { return graph_work(graph, extents_of(graph, options_.symbols)).run.flops; }

  /// Simplifies, unless that makes the model slower: an engine may know the longer form and have a kernel for it.
  Status start(Graph& current) {
    SearchResult simple = simplify(current, rules_, options_.symbols);
    report_.candidates += simple.report.candidates;
    report_.matches += simple.report.matches;
    if (simple.report.steps.empty()) return {};
    auto prepared = options_.prepare(simple.graph);
    const auto ratio = prepared ? oracle_.speedup(current, *prepared) : tl::unexpected(prepared.error());
    if (!ratio) reject("simplification", ratio.error());
    simplifies_ = ratio && (ratio->value >= 0.99 || ratio->high >= 1);
    if (!simplifies_) return {};
    take(current, {std::move(*prepared), std::move(simple.report.steps)});
    return {};
  }

  /// Makes a candidate the current graph.
  void take(Graph& current, Candidate candidate) {
    const auto before = options_.cost(current);
    const auto after = options_.cost(candidate.graph);
    join_steps(candidate.steps, before && after ? *after - *before : 0);
    for (SearchStep& step : candidate.steps) report_.steps.push_back(std::move(step));
    current = std::move(candidate.graph);
  }

  /// The best of the first kind of candidates that has one that helps: tactics, a rule at all its places, a rule at
  /// places that are alike.
  std::optional<Candidate> best_step(const Graph& current) {
    for (const auto propose : {&Greedy::tactics, &Greedy::rules_everywhere, &Greedy::rules_by_class}) {
      std::optional<Candidate> best;
      (this->*propose)(current, best);
      if (best) return best;
    }
    return std::nullopt;
  }

  void tactics(const Graph& current, std::optional<Candidate>& best) {
    for (const Tactic& tactic : options_.tactics) {
      if (out_of_time()) return;
      for (TacticResult& next : run_tactic(current, tactic, rules_)) {
        report_.matches += next.matches;
        judge(current, tactic.name, {std::move(next.graph), std::move(next.steps)}, best);
      }
    }
  }

  void rules_everywhere(const Graph& current, std::optional<Candidate>& best) {
    for (const Rule& rule : rules_) {
      if (out_of_time()) return;
      if (!rule.choices.empty()) {
        for (const auto& places : settings_of(matches_of(current, rule))) judge_at(current, places, best);
        continue;
      }
      Everywhere next = apply_everywhere(current, rule);
      report_.matches += next.matches;
      if (next.changed) judge(current, rule.name, {std::move(next.graph), {std::move(next.step)}}, best);
    }
  }

  void rules_by_class(const Graph& current, std::optional<Candidate>& best) {
    for (const Rule& rule : rules_) {
      const auto classes = classes_of(current, matches_of(current, rule));
      if (classes.size() < 2) continue;
      for (const auto& places : classes) {
        if (out_of_time()) return;
        judge_at(current, places, best);
      }
    }
  }

  std::vector<Match> matches_of(const Graph& current, const Rule& rule) {
    std::vector<Match> matches = find_matches(current, OpIndex(current), rule);
    report_.matches += static_cast<int64_t>(matches.size());
    return matches;
  }

  void judge_at(const Graph& current, std::span<const Match> places, std::optional<Candidate>& best) {
    const Rule& rule = *places[0].rule;
    Rewritten next = apply_matches(current, places);
    if (next.applied.empty()) return;
    SearchStep step{.rule = rule.name, .rule_hash = rule.hash(), .ops_before = run_time_ops(current)};
    step.ops_after = run_time_ops(next.graph);
    for (const Match* match : next.applied)
      for (const ValueId root : match->roots) step.nodes.push_back(value_label(current, root));
    judge(current, rule.name, {std::move(next.graph), {std::move(step)}}, best);
  }

  /// Measures a candidate against `current`, and keeps it when it is the best so far.
  void judge(const Graph& current, const std::string& name, Candidate candidate, std::optional<Candidate>& best) {
    if (!finish(current, name, candidate)) return;
    options_.progress(fmt::format("measuring {}", name));
    const double least = best ? best->steps.front().speedup : options_.least_speedup;
    const auto ratio = look_closely(oracle_, current, candidate.graph, least);
    if (!ratio) reject(name, ratio.error());
    if (!ratio || ratio->low <= 1 || ratio->value <= least) return;
    candidate.steps.front().speedup = ratio->value;
    best = std::move(candidate);
  }

  /// Simplifies and prepares; false where the candidate is not worth a measurement.
  bool finish(const Graph& current, const std::string& name, Candidate& candidate) {
    ++report_.candidates;
    if (simplifies_) {
      SearchResult simple = simplify(candidate.graph, rules_, options_.symbols);
      candidate.graph = std::move(simple.graph);
      for (SearchStep& step : simple.report.steps) candidate.steps.push_back(std::move(step));
    }
    auto prepared = options_.prepare(candidate.graph);
    if (!prepared) {
      reject(name, prepared.error());
      return false;
    }
    candidate.graph = std::move(*prepared);
    const uint64_t hash = candidate.graph.hash();
    if (hash == current.hash() || !seen_.insert(hash_mix_pair(current.hash(), hash)).second) {
      ++report_.duplicates;
      return false;
    }
    return flops(candidate.graph) <= most_flops_;
  }

  void reject(const std::string& rule, const Error& error) {
    Rejection rejection{rule, error.message};
    if (std::ranges::find(report_.rejected, rejection) == report_.rejected.end())
      report_.rejected.push_back(std::move(rejection));
  }

  /// A candidate is judged once against each graph that it may follow.
  static uint64_t hash_mix_pair(uint64_t current, uint64_t candidate) {
    return Graph::hash_mix_result(current, 0) ^ candidate;
  }

  std::span<const Rule> rules_;
  Oracle& oracle_;
  const GreedyOptions& options_;
  SearchReport report_;
  std::set<uint64_t> seen_;
  double most_flops_ = 0;
  bool simplifies_ = true;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<SearchResult> greedy_search(const Graph& graph, std::span<const Rule> rules, Oracle& oracle,
                                   const GreedyOptions& options) {
  return Greedy(rules, oracle, options).run(graph);
}

}  // namespace isomer
