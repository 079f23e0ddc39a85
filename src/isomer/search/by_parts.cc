#include "isomer/search/by_parts.h"

#include <algorithm>
#include <unordered_map>

#include "isomer/base/deadline.h"
#include "isomer/base/stopwatch.h"
#include "isomer/search/layouts.h"
#include "isomer/search/matches.h"
#include "isomer/search/part.h"
#include "isomer/search/repeated_parts.h"
#include "isomer/search/split.h"

namespace isomer {
namespace {

/// Returns the `size` nodes nearest to one, extended to a convex set; fewer if the convex hull grows too large.
std::vector<NodeId> around(const Graph& graph, NodeId center, size_t size) {
  for (; size >= 2; size /= 2) {
    std::vector<NodeId> near{center};
    std::vector<bool> seen(graph.nodes().size(), false);
    seen[center] = true;
    const auto visit = [&](NodeId id) {
      if (seen[id] || !graph.runs(graph.node(id)) || near.size() >= size) return;
      seen[id] = true;
      near.push_back(id);
    };
    for (size_t i = 0; i < near.size(); ++i) {
      const Node& node = graph.node(near[i]);
      for (const ValueId operand : graph.operands(node))
        if (operand != kNoValue) visit(graph.producer(operand));
      for (uint32_t r = 0; r < node.num_results; ++r)
        for (const NodeId reader : graph.consumers(node.result(r))) visit(reader);
    }
    std::vector<NodeId> hull = convex_hull(graph, near);
    if (hull.size() <= 2 * size) return hull;
  }
  return {};
}

/// The result for a part.
struct Found : Candidate {
  std::vector<SearchStep> steps = {};
};

class SearchByParts {
 public:
  SearchByParts(std::span<const Rule> rules, Evaluator& evaluator, const PartsOptions& options)
      : rules_(rules),
        evaluator_(evaluator),
        costs_(*evaluator.costs()),
        options_(options),
        repeated_(rules, evaluator) {
    if (options.layouts != LayoutTime::Never && costs_.obeys_layouts()) layouts_.emplace(costs_);
  }

  Result<SearchResult> run(const Candidate& whole) {
    report_.algorithm = options_.algorithm;
    const Deadline& end = options_.limits.budget.end;
    const std::vector<Match> matches = all_matches(whole.graph, rules_, SIZE_MAX, end);
    ISOMER_CHECK(search_parts(whole, split_graph(whole.graph, matches, options_.split, end)));
    for (size_t i = 0; i < cut_hashes_.size() && !end.passed(); ++i) ISOMER_CHECK(search_around(cut_hashes_[i]));
    if (end.passed()) report_.stop_reason = end.reason();
    if (report_.stop_reason.empty()) report_.stop_reason = "exhausted";
    report_.seconds = watch_.seconds();
    return SearchResult{std::move(current_), std::move(report_)};
  }

 private:
  /// Searches the parts one after the other, and joins the results.
  Status search_parts(const Candidate& whole, const Split& split) {
    const Graph& graph = whole.graph;
    ISOMER_TRY(const std::vector<Layout> layouts, costs_.layouts(whole));
    std::vector<Part> parts;
    std::vector<Found> found;
    for (const auto& nodes : split.parts) {
      if (options_.limits.budget.end.passed()) break;
      const std::string name = fmt::format("part {} of {}", parts.size() + 1, split.parts.size());
      options_.observer.progress("searching " + name);
      TraceScope scope(options_.observer.trace, name, "part");
      parts.push_back(extract_part(whole, nodes));
      const size_t of = split.parts.size() + split.cuts.size();
      ISOMER_TRY(Found better, search(graph, nodes, parts.back(), layouts, parts.size(), of));
      note(scope, nodes.size(), better);
      found.push_back(std::move(better));
    }
    for (const NodeId cut : split.cuts) cut_hashes_.push_back(graph.value_hash(graph.node(cut).result()));
    stitch(whole, parts, found);
    return {};
  }

  void note(TraceScope& scope, size_t operators, const Found& found) const {
    scope.note("operators", static_cast<double>(operators));
    std::string rules;
    for (const SearchStep& step : found.steps) rules += (rules.empty() ? "" : ", ") + step.rule;
    scope.note("steps", rules);
    options_.observer.number("candidates", static_cast<double>(report_.candidates));
  }

  /// Inserts the results of all parts. If the whole graph then costs more than before (it exceeds a limit that no part
  /// exceeds by itself, or kernels that crossed a boundary were cut), inserts one result after the other as long as the
  /// whole costs no more.
  void stitch(const Candidate& whole, const std::vector<Part>& parts, std::vector<Found>& found) {
    std::vector<Replacement> all;
    for (size_t i = 0; i < parts.size(); ++i) all.push_back({&parts[i], &found[i]});
    std::vector<Found*> taken;
    if (!spoils(whole, splice(whole, all))) {
      for (Found& one : found) taken.push_back(&one);
      return replace(whole, all, taken);
    }
    std::vector<Replacement> kept;
    Candidate last = whole;
    for (size_t i = 0; i < parts.size(); ++i) {
      kept.push_back(all[i]);
      Candidate next = splice(whole, kept);
      if (spoils(last, next)) {
        kept.pop_back();
      } else {
        taken.push_back(&found[i]);
        last = std::move(next);
      }
    }
    replace(whole, kept, taken);
  }

  /// Whether `after` costs more than `before`, as far as the costs are known.
  bool spoils(const Candidate& before, const Candidate& after) {
    const auto is = evaluator_.cost(after), was = evaluator_.cost(before);
    return is && was && *was < *is;
  }

  /// Reports the results for parts of `graph`. All steps in them become one move of the whole graph.
  void record(const Graph& graph, std::span<const Replacement> replacements, std::span<Found* const> found) {
    Move move;
    move.before = graph.hash();
    move.after = current_.graph.hash();
    const size_t first = report_.steps.size();
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i]->steps.empty()) continue;
      PartRewrite& part = move.parts.emplace_back();
      for (const ValueId input : replacements[i].part->inputs) part.inputs.push_back(graph.value_hash(input));
      for (const ValueId output : replacements[i].part->outputs) part.outputs.push_back(graph.value_hash(output));
      for (SearchStep& step : found[i]->steps) {
        std::ranges::move(step.moves, std::back_inserter(part.moves));
        step.moves.clear();
        report_.steps.push_back(std::move(step));
      }
    }
    if (!move.parts.empty()) report_.steps[first].moves.push_back(std::move(move));
  }

  /// Inserts replacements with their results (`found`) into a candidate, which becomes the current one, and updates the
  /// cuts. A cut after a value that no longer exists moves down to the nearest one that does.
  void replace(const Candidate& whole, std::span<const Replacement> replacements, std::span<Found* const> found) {
    const Graph& graph = whole.graph;
    Spliced spliced = splice(whole, replacements);
    std::vector<uint64_t>& hashes = spliced.value_hashes;
    std::unordered_map<uint64_t, uint64_t> now;
    for (auto value = static_cast<ValueId>(graph.num_values()); value-- > 0;) {
      for (const NodeId reader : graph.consumers(value))
        if (hashes[value] == 0 && graph.node(reader).num_results > 0)
          hashes[value] = hashes[graph.node(reader).result()];
      now.emplace(graph.value_hash(value), hashes[value]);
    }
    for (uint64_t& hash : cut_hashes_)
      if (const auto next = now.find(hash); next != now.end()) hash = next->second;
    current_ = std::move(spliced);
    record(graph, replacements, found);
  }

  /// Searches around the node that makes a value, if it still exists.
  Status search_around(uint64_t hash) {
    const Graph& graph = current_.graph;
    for (ValueId value = 0; value < graph.num_values(); ++value) {
      if (graph.value_hash(value) != hash || graph.is_constant_derived(value)) continue;
      const std::vector<NodeId> nodes = around(graph, graph.producer(value), options_.split);
      if (nodes.empty()) return {};
      const Part part = extract_part(current_, nodes);
      ++cuts_done_;
      const std::string name = fmt::format("around cut {} of {}", cuts_done_, cut_hashes_.size());
      options_.observer.progress("searching " + name);
      TraceScope scope(options_.observer.trace, name, "part");
      const auto layouts = costs_.layouts(current_);
      if (!layouts) return {};  // no time is left to measure around the cut
      ISOMER_TRY(Found better, search(graph, nodes, part, *layouts, cuts_done_, cut_hashes_.size()));
      note(scope, nodes.size(), better);
      const Replacement replacement{&part, &better};
      if (better.hash() == part.hash() || spoils(current_, splice(current_, {&replacement, 1}))) return {};
      Found* const found[] = {&better};
      replace(Candidate(current_), {&replacement, 1}, found);
      return {};
    }
    return {};
  }

  /// Returns the best graph found for a part, the `nodes` of `whole`. It is searched for its share of the remaining
  /// time, unless it repeats an earlier part.
  Result<Found> search(const Graph& whole, std::span<const NodeId> nodes, const Part& part,
                       const std::vector<Layout>& layouts, size_t number, size_t of) {
    const double beside = live_beside(whole, nodes, costs_.value_bytes(whole));
    Boundary boundary;
    for (const ValueId input : part.inputs) boundary.inputs.push_back(layouts[input]);
    for (const ValueId output : part.outputs) boundary.outputs.push_back(layouts[output]);
    const auto cost_as_it_is = [&](const Candidate& candidate) -> Result<double> {
      ISOMER_TRY(Metrics metrics, costs_.metrics(candidate, boundary));
      metrics.peak_bytes += beside;
      return evaluator_.objective(metrics);
    };
    const auto cost = [&](const Candidate& candidate) -> Result<double> {
      if (!layouts_ || options_.layouts != LayoutTime::EachCandidate) return cost_as_it_is(candidate);
      Candidate decided = candidate;
      return decide_layouts(decided, boundary, cost_as_it_is);
    };
    auto found = repeated_.find(part, boundary, cost);
    if (!found) {
      SearchLimits limits = options_.limits;
      limits.budget = limits.budget.share(3.0 / static_cast<double>(of - number + 3));
      limits.evaluator = &evaluator_;
      const bool as_it_is = !layouts_ || options_.layouts != LayoutTime::EachCandidate;
      limits.costs = as_it_is && !evaluator_.weighs_memory() ? &costs_ : nullptr;
      ISOMER_TRY(found, options_.search(part, rules_, cost, limits));
      repeated_.store(part, boundary, *found);
    }
    if (layouts_) {
      ISOMER_CHECK(decide_layouts(*found, boundary, cost_as_it_is).map([](double) {}));
      ++found->report.candidates;
    }
    report_.add_counts(found->report);
    report_.also_ended(found->report.stop_reason);
    std::vector<SearchStep> steps = std::move(found->report.steps);
    return Found{std::move(*found), std::move(steps)};
  }

  /// Decides the layouts of a part's values, if that lowers its cost. Returns the cost.
  Result<double> decide_layouts(Candidate& part, const Boundary& boundary, const CandidateCost& cost) {
    ISOMER_TRY(const double before, cost(part));
    Candidate decided(part.graph, layouts_->choose(part, boundary));
    auto after = cost(decided);
    if (!after || *after >= before) return before;
    part = std::move(decided);
    return after;
  }

  const std::span<const Rule> rules_;
  Evaluator& evaluator_;
  CostModel& costs_;
  const PartsOptions& options_;
  RepeatedParts repeated_;
  std::optional<LayoutChoice> layouts_;
  const Stopwatch watch_;
  Candidate current_;
  std::vector<uint64_t> cut_hashes_;  // current hashes of the values after which the graph was cut
  size_t cuts_done_ = 0;
  SearchReport report_;
};

}  // namespace

Result<SearchResult> search_by_parts(const Candidate& whole, std::span<const Rule> rules, Evaluator& evaluator,
                                     const PartsOptions& options) {
  return SearchByParts(rules, evaluator, options).run(whole);
}

}  // namespace isomer
