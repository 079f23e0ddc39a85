#include "isomer/search/rule_index.h"

#include <algorithm>

#include "isomer/rules/walk.h"

namespace isomer {
namespace {

uint32_t depth_of(const Term& term) {
  uint32_t deepest = 0;
  for (const Term& operand : term.operands) deepest = std::max(deepest, depth_of(operand));
  return deepest + 1;
}

/// Whether a term can match a node in several ways.
bool has_several_ways(const Term& term) {
  if (term.kind == Term::Kind::Apply && term.op->commutative) return true;
  const auto any_length = [](const Term& operand) { return operand.repeated || operand.kind == Term::Kind::Sequence; };
  return std::ranges::count_if(term.operands, any_length) > 1 || std::ranges::any_of(term.operands, has_several_ways);
}

}  // namespace

/// Depends on addresses, but decides nothing: it only saves attempts that would fail.
uint64_t OpSet::bit(const OpDef& op) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  return uint64_t{1} << (reinterpret_cast<uintptr_t>(&op) * kGolden >> 58);
}

OpSet ops_of(const Graph& graph) {
  OpSet out;
  for (const Node& node : graph.nodes()) out.add(*node.op);
  return out;
}

RuleIndex::RuleIndex(std::span<const Rule> rules) : rules_(rules) {
  entries_.reserve(rules.size());
  for (const Rule& rule : rules) {
    Entry& entry = entries_.emplace_back(Entry{rule});
    entry.several_ways = rule.sources[0].repeated || has_several_ways(rule.sources[0]);
    for (const Term& source : rule.sources) entry.depth = std::max(entry.depth, depth_of(source));
    for_each_source_term(rule, [&](const Term& term) {
      if (term.kind == Term::Kind::Apply) entry.ops.add(*term.op);
    });
  }
}

}  // namespace isomer
