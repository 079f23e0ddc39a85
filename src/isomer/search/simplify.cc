#include "isomer/search/simplify.h"

#include <algorithm>
#include <map>
#include <optional>

namespace isomer {
namespace {

std::map<std::string, int64_t> histogram(const Graph& graph) {
  std::map<std::string, int64_t> counts;
  for (const Node& node : graph.nodes())
    if (graph.runs(node)) ++counts[node.op->name];
  return counts;
}

bool repeats(const Term& term) {
  return term.repeated || std::any_of(term.operands.begin(), term.operands.end(), repeats);
}

}  // namespace

bool only_removes(const Graph& before, const Graph& after, const SymbolValues& symbols) {
  const auto had = histogram(before);
  int64_t removed = 0;
  for (const auto& [name, count] : had) removed += count;
  for (const auto& [name, count] : histogram(after)) {
    const auto found = had.find(name);
    if (found == had.end() || found->second < count) return false;
    removed -= count;
  }
  if (removed <= 0) return false;
  const Work was = graph_work(before, extents_of(before, symbols)).run;
  const Work is = graph_work(after, extents_of(after, symbols)).run;
  return is.flops <= was.flops && is.bytes <= was.bytes;
}

SearchResult simplify(const Candidate& candidate, ExhaustiveRewriter& rules, const SymbolValues& symbols,
                      const Deadline& deadline, const RefusedWeights* refused) {
  SearchResult out{candidate, {.algorithm = "simplify", .stop_reason = "exhausted"}};
  std::optional<OpIndex> index(candidate.graph);
  OpSet ops = ops_of(candidate.graph);
  for (bool changed = true; changed;) {
    changed = false;
    for (const RuleIndex::Entry& rule : rules.rules()) {
      if (deadline.passed()) {
        out.report.stop_reason = deadline.reason();
        return out;
      }
      if (!ops.may_contain(rule.ops) || std::ranges::any_of(rule.plan.rule().sources, repeats)) continue;
      ExhaustiveRewrite next = rules.apply(out, *index, rule, deadline, refused);
      out.report.matches += next.matches;
      if (!next.after) continue;
      ++out.report.candidates;
      if (!only_removes(out.graph, next.after->graph, symbols)) continue;
      out.report.steps.push_back(std::move(next.step));
      static_cast<Candidate&>(out) = std::move(*next.after);
      index.emplace(out.graph);
      ops = ops_of(out.graph);
      changed = true;
    }
  }
  return out;
}

}  // namespace isomer
