#include "isomer/search/saturate_search.h"

#include <algorithm>
#include <set>

#include "isomer/egraph/exact_extraction.h"
#include "isomer/rules/delta.h"
#include "isomer/search/guide.h"
#include "isomer/search/term_extraction.h"

namespace isomer {
namespace {

/// Shares of the time that is left when the work begins.
constexpr double kExploration = 0.3;
constexpr double kOperatorCosts = 0.5;
constexpr double kExtraction = 0.5;
/// Smaller gains, as a share of the cost, are rounding errors.
constexpr double kMinExtractionGain = 1e-9;

std::vector<Direction> forward_directions(std::span<const Rule> rules) {
  std::vector<Direction> out = directions_of({rules.begin(), rules.end()});
  std::erase_if(out, [](const Direction& direction) { return !direction.forward; });
  return out;
}

/// The graphs on the way to extracted ones. Every graph is built and costed once.
class DerivedGraphs {
 public:
  // The graphs' matches are the steps that were taken, so the expansion needs no rules.
  DerivedGraphs(const CandidateCost& cost, const SearchLimits& limits)
      : expansion_("saturate", no_rules_, cost, limits) {}

  Status begin(const Candidate& first) {
    ISOMER_TRY(SearchNode node, expansion_.begin(first));
    first_ = std::make_shared<SearchNode>(std::move(node));
    nodes_.emplace(first.graph.hash(), first_);
    return {};
  }

  bool stopped() { return expansion_.stopped(); }

  /// Follows the guide from the first graph to the chosen one. Returns the goal to which no step leads; nothing if the
  /// graph was reached or the budget is spent.
  std::optional<std::pair<EClassId, ENode>> derive(const Guide& guide, const ChosenNodes& chosen) {
    const auto failed = derive(guide, chosen, Guide::Order::FirstOutputFirst);
    return failed ? derive(guide, chosen, Guide::Order::LastOutputFirst) : failed;
  }

  FoundCandidate result(const Candidate& first) { return expansion_.result(first); }

 private:
  std::optional<std::pair<EClassId, ENode>> derive(const Guide& guide, const ChosenNodes& chosen, Guide::Order order) {
    std::set<uint64_t> passed;
    for (std::shared_ptr<SearchNode> at = first_; !stopped();) {
      GuideStep step = guide.next(at->graph, chosen, order);
      if (!step.goal) return std::nullopt;
      at = step.match && passed.insert(at->graph.hash()).second ? after(at, std::move(*step.match)) : nullptr;
      if (at == nullptr) return stopped() ? std::nullopt : step.goal;
    }
    return std::nullopt;
  }

  /// Returns the graph after a step; nullptr if it may not be kept.
  std::shared_ptr<SearchNode> after(const std::shared_ptr<SearchNode>& before, Match match) {
    const auto delta = delta_of(before->graph, match);
    if (!delta) return nullptr;
    if (const auto known = nodes_.find(delta->hash); known != nodes_.end()) return known->second;
    before->matches.push_back(std::move(match));
    const size_t number = before->matches.size() - 1;
    const auto cost = expansion_.cost(*before, number);
    std::shared_ptr<SearchNode> out;
    if (cost) {
      const Successor successor{before, number, *cost};
      std::vector<bool> unmarked;
      if (expansion_.keep(successor)) out = std::make_shared<SearchNode>(expansion_.build(successor, unmarked));
    }
    nodes_.emplace(delta->hash, out);
    return out;
  }

  const RuleIndex no_rules_{{}};
  Expansion expansion_;
  std::shared_ptr<SearchNode> first_;
  std::unordered_map<uint64_t, std::shared_ptr<SearchNode>> nodes_;  // by hash; nullptr: refused
};

class SaturateSearch {
 public:
  SaturateSearch(std::span<const Rule> rules, const CandidateCost& cost, const SaturateOptions& options)
      : rules_(rules),
        cost_(cost),
        options_(options),
        budget_(options.limits.budget),
        directions_(forward_directions(rules)),
        graphs_(cost, options_.limits) {}

  Result<FoundCandidate> run(const Candidate& first) {
    ISOMER_CHECK(graphs_.begin(first));
    if (!graphs_.stopped()) saturate(first.graph);
    graphs_.stopped();  // so that the report has the reason
    FoundCandidate found = graphs_.result(first);
    report_.also_ended(found.report.stop_reason);
    found.report.stop_reason = report_.stop_reason;
    found.report.add_counts(report_);
    return found;
  }

 private:
  void saturate(const Graph& first) {
    TermGraph terms;
    if (const auto added = terms.add(first); !added) return report_.note(added.error().message);
    Exploration exploration(terms, directions_,
                            {.nodes = options_.nodes,
                             .iterations = options_.iterations,
                             .bytes = budget_.bytes,
                             .end = budget_.share(kExploration).end});
    report_.stop_reason = exploration.run();
    report_.matches = exploration.matches();
    const LocatedGraph located(first, terms);
    const auto operator_cost = [&](const Graph& graph) { return cost_of(graph); };
    TermExtraction extraction(terms, located, operator_cost, budget_.share(kOperatorCosts).end);
    extract(extraction, Guide(terms, exploration.applications(), rules_));
  }

  /// Returns the cost of a graph of one operator; nothing if it is not known or the operator must not be used.
  std::optional<double> cost_of(const Graph& graph) const {
    Evaluator* evaluator = options_.limits.evaluator;
    if (evaluator != nullptr && !evaluator->admits(graph)) return std::nullopt;
    // The cost of a part is about its boundary, which this graph does not have.
    if (evaluator != nullptr && evaluator->costs() != nullptr) return evaluator->cost(graph);
    const auto cost = cost_(graph);
    return cost ? std::optional(*cost) : std::nullopt;
  }

  /// Extracts and derives graphs until one is reached, or none is cheaper than the first graph.
  void extract(TermExtraction& extraction, const Guide& guide) {
    constexpr int kMaxTries = 8;
    int failed = 0;
    for (; failed < kMaxTries && !graphs_.stopped(); ++failed) {
      const auto best = cheapest(extraction.problem());
      if (!best) break;
      const double min_gain = kMinExtractionGain * extraction.first_cost();
      if (extraction_cost(extraction.problem(), *best) >= extraction.first_cost() - min_gain) break;
      const auto goal = graphs_.derive(guide, [&](EClassId id) { return extraction.chosen(*best, id); });
      if (!goal) break;
      // Another extraction would be cut off too.
      if (cut_off_ || !extraction.forbid(goal->first, goal->second)) {
        ++failed;
        break;
      }
    }
    if (failed == 0) return;
    report_.also_ended("no derivation");
    report_.note(
        fmt::format("No steps from the model lead to {} of the extracted graphs, so they were not used", failed));
  }

  std::optional<Extraction> cheapest(const ExtractionProblem& problem) {
    if (greedy_extraction_bytes(problem) > budget_.bytes) {
      report_.also_ended("memory");
      return std::nullopt;
    }
    const Deadline end = budget_.share(kExtraction).end;
    auto greedy = extract_greedily(problem, end);
    if (end.passed()) cut_off();
    if (!greedy || !options_.exact) return greedy;
    // The user's limit also holds for a deadline that must not be divided.
    const Deadline soon =
        Deadline::after(std::min(options_.extract_seconds, end.left()), [&end] { return end.stopped(); });
    ExactExtraction exact = extract_exactly(problem, *greedy, soon);
    if (exact.gap > 0) {
      cut_off();
      report_.note(
          fmt::format("An exact extraction was cut off; the optimum may cost up to {:.1f}% less", 100 * exact.gap));
    }
    return std::move(exact.choices);
  }

  void cut_off() {
    cut_off_ = true;
    report_.also_ended(budget_.end.passed() ? budget_.end.reason() : "extraction limit");
  }

  const std::span<const Rule> rules_;
  const CandidateCost& cost_;
  const SaturateOptions& options_;
  const Budget& budget_;
  const std::vector<Direction> directions_;
  DerivedGraphs graphs_;
  SearchReport report_;   // without what the derived graphs report
  bool cut_off_ = false;  // an extraction was
};

}  // namespace

Result<FoundCandidate> saturate_search(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                       const SaturateOptions& options) {
  return SaturateSearch(rules, cost, options).run(first);
}

}  // namespace isomer
