#include "isomer/search/metaflow.h"

#include <algorithm>
#include <unordered_map>

#include "isomer/base/deadline.h"
#include "isomer/cost/objective.h"
#include "isomer/search/matches.h"
#include "isomer/search/part.h"
#include "isomer/search/restarts.h"
#include "isomer/search/split.h"

namespace isomer {
namespace {

using Clock = std::chrono::steady_clock;

/// The nodes around one, the nearest first, until there are `size`; made convex. Fewer where the hull grows too large.
std::vector<NodeId> around(const Graph& graph, NodeId center, size_t size) {
  for (; size >= 2; size /= 2) {
    std::vector<NodeId> near{center};
    std::vector<bool> seen(graph.nodes().size(), false);
    seen[center] = true;
    const auto visit = [&](NodeId id) {
      const Node& node = graph.node(id);
      const bool runs = !node.is_input() && !(node.num_results > 0 && graph.is_weight(node.result()));
      if (seen[id] || !runs || near.size() >= size) return;
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

/// What was found for a part.
struct Found {
  Graph graph;
  std::vector<SearchStep> steps;
};

class Metaflow {
 public:
  Metaflow(std::span<const Rule> rules, CostModel& costs, const MetaflowOptions& options)
      : rules_(rules), costs_(costs), options_(options) {}

  Result<SearchResult> run(const Graph& graph) {
    report_.algorithm = "backtrack";
    const Deadline& end = options_.deadline;
    const std::vector<Match> matches = all_matches(graph, rules_, SIZE_MAX, end);
    ISOMER_CHECK(search_parts(graph, split_graph(graph, matches, options_.split, end)));
    for (size_t i = 0; i < cut_hashes_.size() && !end.passed(); ++i) ISOMER_CHECK(search_around(cut_hashes_[i]));
    if (end.passed()) report_.stop_reason = end.reason();
    if (report_.stop_reason.empty()) report_.stop_reason = "exhausted";
    report_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return SearchResult{std::move(current_), std::move(report_)};
  }

 private:
  /// Searches the parts one after the other, and stitches what was found.
  Status search_parts(const Graph& graph, const Split& split) {
    const std::vector<Layout> layouts = costs_.layouts(graph);
    std::vector<Part> parts;
    std::vector<Found> found;
    for (const auto& nodes : split.parts) {
      if (options_.deadline.passed()) break;
      const std::string name = fmt::format("part {} of {}", parts.size() + 1, split.parts.size());
      options_.progress("searching " + name);
      TraceScope scope(options_.trace, name, "part");
      parts.push_back(extract_part(graph, nodes));
      const size_t of = split.parts.size() + split.cuts.size();
      ISOMER_TRY(Found better, search(graph, nodes, parts.back(), layouts, parts.size(), of));
      note(scope, nodes.size(), better);
      found.push_back(std::move(better));
    }
    for (const NodeId cut : split.cuts) cut_hashes_.push_back(graph.value_hash(graph.node(cut).result()));
    stitch(graph, parts, found);
    return {};
  }

  void note(TraceScope& scope, size_t operators, const Found& found) const {
    scope.note("operators", static_cast<double>(operators));
    std::string rules;
    for (const SearchStep& step : found.steps) rules += (rules.empty() ? "" : ", ") + step.rule;
    scope.note("steps", rules);
    if (options_.trace != nullptr) options_.trace->number("candidates", static_cast<double>(report_.candidates));
  }

  /// Puts in what was found for all parts. Where that takes the whole beyond a limit which no part exceeds by itself:
  /// for one part after the other, as long as the whole stays within.
  void stitch(const Graph& graph, const std::vector<Part>& parts, std::vector<Found>& found) {
    std::vector<Replacement> all;
    for (size_t i = 0; i < parts.size(); ++i) all.push_back({&parts[i], &found[i].graph});
    std::vector<Found*> taken;
    if (!spoils(graph, splice(graph, all).graph)) {
      for (Found& one : found) taken.push_back(&one);
      return replace(graph, all, taken);
    }
    std::vector<Replacement> kept;
    for (size_t i = 0; i < parts.size(); ++i) {
      kept.push_back(all[i]);
      if (spoils(graph, splice(graph, kept).graph)) {
        kept.pop_back();
      } else {
        taken.push_back(&found[i]);
      }
    }
    replace(graph, kept, taken);
  }

  /// Whether `after` exceeds a limit by more than `before` does.
  bool spoils(const Graph& before, const Graph& after) {
    const auto is = costs_.metrics(after);
    const double cost = is ? options_.objective(*is) : 0;
    if (cost < kBeyondLimits) return false;
    const auto was = costs_.metrics(before);
    return was && options_.objective(*was) < cost;
  }

  /// Reports what was found for parts of `graph`. What was done in them is one move of the whole.
  void record(const Graph& graph, std::span<const Replacement> replacements, std::span<Found* const> found) {
    Move move;
    move.before = graph.hash();
    move.after = current_.hash();
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

  /// Puts replacements, and what was `found` for each, into a graph, which becomes the current one; the cuts go along.
  /// A cut behind a value that was rewritten away moves down to the nearest that still stands.
  void replace(const Graph& graph, std::span<const Replacement> replacements, std::span<Found* const> found) {
    Spliced spliced = splice(graph, replacements);
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
    current_ = std::move(spliced.graph);
    record(graph, replacements, found);
  }

  /// A local search around the node that makes a value, if there still is one.
  Status search_around(uint64_t hash) {
    for (ValueId value = 0; value < current_.num_values(); ++value) {
      if (current_.value_hash(value) != hash || current_.is_weight(value)) continue;
      const std::vector<NodeId> nodes = around(current_, current_.producer(value), options_.split);
      if (nodes.empty()) return {};
      const Part part = extract_part(current_, nodes);
      ++cuts_done_;
      const std::string name = fmt::format("around cut {} of {}", cuts_done_, cut_hashes_.size());
      options_.progress("searching " + name);
      TraceScope scope(options_.trace, name, "part");
      ISOMER_TRY(Found better, search(current_, nodes, part, costs_.layouts(current_), cuts_done_, cut_hashes_.size()));
      note(scope, nodes.size(), better);
      const Replacement replacement{&part, &better.graph};
      if (better.steps.empty() || spoils(current_, splice(current_, {&replacement, 1}).graph)) return {};
      Found* const found[] = {&better};
      replace(Graph(current_), {&replacement, 1}, found);
      return {};
    }
    return {};
  }

  /// The best graph found for a part, the `nodes` of `whole`. It gets its share of the time that is left.
  Result<Found> search(const Graph& whole, std::span<const NodeId> nodes, const Part& part,
                       const std::vector<Layout>& layouts, size_t number, size_t of) {
    const double beside = live_beside(whole, nodes, costs_.value_bytes(whole));
    Boundary boundary;
    for (const ValueId input : part.inputs) boundary.inputs.push_back(layouts[input]);
    for (const ValueId output : part.outputs) boundary.outputs.push_back(layouts[output]);
    const auto cost = [&](const Graph& graph) -> Result<double> {
      ISOMER_TRY(Metrics metrics, costs_.metrics(graph, boundary));
      metrics.peak_bytes += beside;
      return options_.objective(metrics);
    };
    const double share = 3 * options_.deadline.left() / static_cast<double>(of - number + 3);
    const BacktrackOptions options{.alpha = options_.alpha,
                                   .most_unpaid = options_.most_unpaid,
                                   .max_candidates = options_.max_candidates,
                                   .admits = options_.admits,
                                   .foldable = options_.foldable,
                                   .refused = options_.refused,
                                   .deadline = options_.deadline.within(share)};
    const bool exhaustive = options_.most_unpaid == 0;
    ISOMER_TRY(BacktrackResult found, exhaustive ? backtrack(part.graph, rules_, cost, options)
                                                 : backtrack_with_restarts(part.graph, rules_, cost, options));
    report_.candidates += found.report.candidates;
    report_.duplicates += found.report.duplicates;
    report_.matches += found.report.matches;
    if (found.report.stop_reason != "exhausted") report_.stop_reason = found.report.stop_reason;
    return Found{std::move(found.graph), std::move(found.report.steps)};
  }

  const std::span<const Rule> rules_;
  CostModel& costs_;
  const MetaflowOptions& options_;
  const Clock::time_point start_ = Clock::now();
  Graph current_;
  std::vector<uint64_t> cut_hashes_;  // of the values behind which the graph was cut, as they are now
  size_t cuts_done_ = 0;
  SearchReport report_;
};

}  // namespace

Result<SearchResult> metaflow_search(const Graph& graph, std::span<const Rule> rules, CostModel& costs,
                                     const MetaflowOptions& options) {
  return Metaflow(rules, costs, options).run(graph);
}

}  // namespace isomer
