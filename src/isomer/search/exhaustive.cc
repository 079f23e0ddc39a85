#include "isomer/search/exhaustive.h"

#include <algorithm>
#include <optional>
#include <set>

#include "isomer/rules/record.h"
#include "isomer/search/step.h"

namespace isomer {

ExhaustiveRewrite ExhaustiveRewriter::apply(const Candidate& candidate, const OpIndex& index,
                                            const RuleIndex::Entry& rule, const Deadline& deadline,
                                            const RefusedWeights* refused, int rounds) {
  ExhaustiveRewrite out;
  // Without this, rules that rearrange an expression (associativity) would never end.
  std::set<uint64_t> seen{candidate.graph.hash()};
  // Rules that duplicate what they match would exhaust the memory.
  const size_t max_nodes = 4 * candidate.graph.nodes().size() + 1000;
  for (int round = 0; round < rounds && !deadline.passed(); ++round) {
    const Candidate& before = out.after ? *out.after : candidate;
    const Graph& graph = before.graph;
    std::optional<OpIndex> own;
    if (out.after) own.emplace(graph);
    std::vector<Match> matches = find_matches(graph, own ? *own : index, rule.plan, SIZE_MAX, &deadline);
    out.matches += static_cast<int64_t>(matches.size());
    if (matches.empty()) break;
    for (Match& match : matches) match.target = targets_.of(graph, match);
    Rewritten next = apply_matches(graph, matches, refused);
    if (next.applied.empty() || !seen.insert(next.graph.hash()).second) break;
    if (round > 0 && next.graph.nodes().size() > std::max(max_nodes, graph.nodes().size())) break;
    for (const Match* match : next.applied)
      for (const ValueId root : match->roots) out.step.nodes.push_back(value_label(graph, root));
    out.step.moves.push_back(record_move(graph, next.applied, next.graph));
    out.after = carried(before.decisions, next.value_hashes, std::move(next.graph));
  }
  if (!out.after) return out;
  out.step.rule = rule.plan.rule().name;
  out.step.rule_hash = rule.plan.rule().hash();
  out.step.ops_before = run_time_ops(candidate.graph);
  out.step.ops_after = run_time_ops(out.after->graph);
  return out;
}

ExhaustiveRewrite apply_exhaustively(const Candidate& candidate, const Rule& rule, const Deadline& deadline,
                                     const RefusedWeights* refused, int rounds) {
  ExhaustiveRewriter rewriter({&rule, 1});
  return rewriter.apply(candidate, OpIndex(candidate.graph), rewriter.rules()[0], deadline, refused, rounds);
}

size_t run_time_ops(const Graph& graph) {
  return static_cast<size_t>(std::ranges::count_if(graph.nodes(), [&](const Node& node) { return graph.runs(node); }));
}

}  // namespace isomer
