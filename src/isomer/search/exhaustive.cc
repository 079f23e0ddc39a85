#include "isomer/search/exhaustive.h"

#include <algorithm>
#include <set>

#include "isomer/rules/record.h"
#include "isomer/search/step.h"

namespace isomer {

ExhaustiveRewrite apply_exhaustively(const Candidate& candidate, const Rule& rule, const Deadline& deadline,
                                     const RefusedWeights* refused, int rounds) {
  const Graph& graph = candidate.graph;
  ExhaustiveRewrite out{candidate, {.rule = rule.name, .rule_hash = rule.hash(), .ops_before = run_time_ops(graph)}};
  // Without this, rules that rearrange an expression (associativity) would never end.
  std::set<uint64_t> seen{graph.hash()};
  // Rules that duplicate what they match would exhaust the memory.
  const size_t max_nodes = 4 * graph.nodes().size() + 1000;
  for (int round = 0; round < rounds && !deadline.passed(); ++round) {
    const std::vector<Match> matches = find_matches(out.graph, OpIndex(out.graph), rule, SIZE_MAX, &deadline);
    out.matches += static_cast<int64_t>(matches.size());
    if (matches.empty()) break;
    Rewritten next = apply_matches(out.graph, matches, refused);
    if (next.applied.empty() || !seen.insert(next.graph.hash()).second) break;
    if (round > 0 && next.graph.nodes().size() > std::max(max_nodes, out.graph.nodes().size())) break;
    for (const Match* match : next.applied)
      for (const ValueId root : match->roots) out.step.nodes.push_back(value_label(out.graph, root));
    out.step.moves.push_back(record_move(out.graph, next.applied, next.graph));
    static_cast<Candidate&>(out) = carried(out.decisions, next.value_hashes, std::move(next.graph));
    out.changed = true;
  }
  out.step.ops_after = run_time_ops(out.graph);
  return out;
}

size_t run_time_ops(const Graph& graph) {
  return static_cast<size_t>(std::ranges::count_if(graph.nodes(), [&](const Node& node) { return graph.runs(node); }));
}

}  // namespace isomer
