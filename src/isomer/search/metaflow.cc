#include "isomer/search/metaflow.h"

#include <algorithm>
#include <unordered_map>

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

class Metaflow {
 public:
  Metaflow(std::span<const Rule> rules, CostModel& costs, const MetaflowOptions& options)
      : rules_(rules), costs_(costs), options_(options) {}

  Result<SearchResult> run(const Graph& graph) {
    report_.algorithm = "backtrack";
    const std::vector<Match> matches = all_matches(graph, rules_);
    const Split split = split_graph(graph, matches, options_.split);
    ISOMER_CHECK(search_parts(graph, split));
    for (size_t i = 0; i < cut_hashes_.size(); ++i) ISOMER_CHECK(search_around(cut_hashes_[i]));
    if (report_.stop_reason.empty()) report_.stop_reason = "exhausted";
    report_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return SearchResult{std::move(current_), std::move(report_)};
  }

 private:
  /// Searches the parts one after the other, and stitches what was found.
  Status search_parts(const Graph& graph, const Split& split) {
    const std::vector<Layout> layouts = costs_.layouts(graph);
    std::vector<Part> parts;
    std::vector<Graph> found;
    for (const auto& nodes : split.parts) {
      options_.progress(fmt::format("searching part {} of {}", parts.size() + 1, split.parts.size()));
      parts.push_back(extract_part(graph, nodes));
      ISOMER_TRY(Graph better, search(parts.back(), layouts, parts.size(), split.parts.size() + split.cuts.size()));
      found.push_back(std::move(better));
    }
    std::vector<Replacement> replacements;
    for (size_t i = 0; i < parts.size(); ++i) replacements.push_back({&parts[i], &found[i]});
    for (const NodeId cut : split.cuts) cut_hashes_.push_back(graph.value_hash(graph.node(cut).result()));
    replace(graph, replacements);
    return {};
  }

  /// Puts replacements into a graph, which becomes the current one; the cuts go along. A cut behind a value that was
  /// rewritten away moves down to the nearest that still stands.
  void replace(const Graph& graph, std::span<const Replacement> replacements) {
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
      if (const auto found = now.find(hash); found != now.end()) hash = found->second;
    current_ = std::move(spliced.graph);
  }

  /// A local search around the node that makes a value, if there still is one.
  Status search_around(uint64_t hash) {
    for (ValueId value = 0; value < current_.num_values(); ++value) {
      if (current_.value_hash(value) != hash || current_.is_weight(value)) continue;
      const std::vector<NodeId> nodes = around(current_, current_.producer(value), options_.split);
      if (nodes.empty()) return {};
      const Part part = extract_part(current_, nodes);
      ++cuts_done_;
      options_.progress(fmt::format("searching around cut {} of {}", cuts_done_, cut_hashes_.size()));
      ISOMER_TRY(const Graph better, search(part, costs_.layouts(current_), cuts_done_, cut_hashes_.size()));
      const Replacement replacement{&part, &better};
      if (better.hash() != part.graph.hash()) replace(Graph(current_), {&replacement, 1});
      return {};
    }
    return {};
  }

  /// The best graph found for a part. It gets its share of the time that is left.
  Result<Graph> search(const Part& part, const std::vector<Layout>& layouts, size_t number, size_t of) {
    Boundary boundary;
    for (const ValueId input : part.inputs) boundary.inputs.push_back(layouts[input]);
    for (const ValueId output : part.outputs) boundary.outputs.push_back(layouts[output]);
    const auto cost = [&](const Graph& graph) -> Result<double> {
      ISOMER_TRY(const Metrics metrics, costs_.metrics(graph, boundary));
      return options_.objective(metrics);
    };
    const double left = options_.time_budget_seconds - std::chrono::duration<double>(Clock::now() - start_).count();
    const double share = 3 * std::max(0.0, left) / static_cast<double>(of - number + 3);
    const BacktrackOptions options{
        .alpha = options_.alpha,
        .most_unpaid = options_.most_unpaid,
        .max_candidates = options_.max_candidates,
        .admits = options_.admits,
        .deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(share))};
    const bool exhaustive = options_.most_unpaid == 0;
    ISOMER_TRY(BacktrackResult found, exhaustive ? backtrack(part.graph, rules_, cost, options)
                                                 : backtrack_with_restarts(part.graph, rules_, cost, options));
    report_.candidates += found.report.candidates;
    report_.duplicates += found.report.duplicates;
    report_.matches += found.report.matches;
    if (found.report.stop_reason != "exhausted") report_.stop_reason = found.report.stop_reason;
    for (SearchStep& step : found.report.steps) report_.steps.push_back(std::move(step));
    return std::move(found.graph);
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
