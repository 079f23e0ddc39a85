#include "isomer/search/greedy.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "isomer/search/everywhere.h"
#include "isomer/search/roofline.h"
#include "isomer/search/simplify.h"

namespace isomer {
namespace {

/// One rule applied everywhere, simplified and prepared.
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
      current = std::move(best->graph);
      for (SearchStep& step : best->steps) report_.steps.push_back(std::move(step));
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
    simplifies_ = ratio && ratio->value >= 0.99;
    if (!simplifies_) return {};
    current = std::move(*prepared);
    report_.steps = std::move(simple.report.steps);
    return {};
  }

  std::optional<Candidate> best_step(const Graph& current) {
    std::optional<Candidate> best;
    double best_ratio = options_.least_speedup;
    for (const Rule& rule : rules_) {
      if (out_of_time()) break;
      auto candidate = make(current, rule);
      if (!candidate) continue;
      options_.progress(fmt::format("measuring {}", rule.name));
      const auto ratio = oracle_.speedup(current, candidate->graph);
      if (!ratio) reject(rule.name, ratio.error());
      if (!ratio || ratio->low <= 1 || ratio->value <= best_ratio) continue;
      best_ratio = ratio->value;
      candidate->steps.front().speedup = ratio->value;
      best = std::move(candidate);
    }
    return best;
  }

  std::optional<Candidate> make(const Graph& current, const Rule& rule) {
    Everywhere next = apply_everywhere(current, rule);
    report_.matches += next.matches;
    if (!next.changed) return std::nullopt;
    ++report_.candidates;
    SearchResult simple{next.graph, {}};
    if (simplifies_) simple = simplify(next.graph, rules_, options_.symbols);
    auto prepared = options_.prepare(simple.graph);
    if (!prepared) {
      reject(rule.name, prepared.error());
      return std::nullopt;
    }
    if (!seen_.insert(hash_mix_pair(current.hash(), prepared->hash())).second || prepared->hash() == current.hash()) {
      ++report_.duplicates;
      return std::nullopt;
    }
    if (flops(*prepared) > most_flops_) return std::nullopt;
    next.step.delta_us = roofline_us(next.graph, options_.symbols) - roofline_us(current, options_.symbols);
    Candidate out{std::move(*prepared), {std::move(next.step)}};
    for (SearchStep& step : simple.report.steps) out.steps.push_back(std::move(step));
    return out;
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
