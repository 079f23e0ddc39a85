#include "isomer/rules/siblings.h"

#include <algorithm>

#include "isomer/rules/walk.h"

namespace isomer {
namespace {

void add_variable(const Term& term, std::set<std::string>& out) {
  if (term.kind == Term::Kind::Value || term.kind == Term::Kind::Sequence) out.insert(term.name);
}

bool has_sequence(const Term& term, const std::string& name) {
  return any_sequence(term, [&](const std::string& each) { return each == name; });
}

/// Whether an operator occurs below the root of a term.
bool stands_below(const OpDef* op, const Term& term) {
  return std::ranges::any_of(term.operands, [&](const Term& operand) {
    return any_term(operand, [&](const Term& each) { return each.op == op; });
  });
}

}  // namespace

std::set<std::string> read_by_target(const Rule& rule) {
  std::set<std::string> read;
  for_each_target_term(rule, [&](const Term& term) { add_variable(term, read); });
  return read;
}

std::vector<ValueId> bound_values(const Binding& binding, const std::set<std::string>& names) {
  std::vector<ValueId> out;
  for (const auto& [name, value] : binding.values)
    if (names.contains(name)) out.push_back(value);
  for (const auto& [name, values] : binding.sequences)
    if (names.contains(name)) out.insert(out.end(), values.begin(), values.end());
  std::erase(out, kNoValue);
  return out;
}

Siblings::Siblings(const Graph& graph, const Rule& rule)
    : graph_(graph), rule_(rule), read_(read_by_target(rule)), dependence_(graph) {}

bool Siblings::begin(NodeId first, const Term& term, const Binding& binding) {
  std::set<std::string> variables;
  for_each_term(term, [&](const Term& each) { add_variable(each, variables); });
  // If the term's operator occurs only at its root, no node inside the pattern can be in the group.
  reads_all_ = !stands_below(term.op, term) && std::ranges::includes(read_, variables);
  elements_.clear();
  std::ranges::copy_if(read_, std::inserter(elements_, elements_.end()),
                       [&](const std::string& name) { return has_sequence(term, name); });
  dependence_.begin(first);
  return std::ranges::none_of(bound_values(binding, read_), [&](ValueId value) { return dependence_.on_group(value); });
}

bool Siblings::rule_out(NodeId id) {
  const auto depends = [&](ValueId value) { return dependence_.on_group(value); };
  return reads_all_ && std::ranges::any_of(graph_.operands(graph_.node(id)), depends);
}

bool Siblings::depends(const Binding& binding) {
  return std::ranges::any_of(elements_, [&](const std::string& name) {
    const auto* values = binding.sequence(name);
    return values != nullptr && !values->empty() && dependence_.on_group(values->back());
  });
}

void Siblings::remember(const Binding& alone, const std::vector<NodeId>& group) {
  constexpr size_t kLarge = 64;
  if (rule_.sources.size() == 1 && group.size() > kLarge) large_groups_.emplace_back(alone.values, group);
}

bool Siblings::in_large_group(NodeId id, const Binding& binding) const {
  return std::ranges::any_of(large_groups_, [&](const auto& large) {
    return large.first == binding.values && std::ranges::binary_search(large.second, id);
  });
}

bool binds_sequence(const Binding& binding, const Term& term) {
  return std::ranges::any_of(binding.sequences, [&](const auto& entry) { return has_sequence(term, entry.first); });
}

void append_last(const Binding& from, const Term& term, Binding& to) {
  for (auto& [name, values] : to.sequences)
    if (has_sequence(term, name)) values.push_back(from.sequence(name)->back());
}

bool closes_cycle(const Graph& graph, const Match& match) {
  std::vector<NodeId> pending;
  for (const ValueId value : bound_values(match.binding, read_by_target(*match.rule)))
    pending.push_back(graph.producer(value));
  std::set<NodeId> roots;
  for (const ValueId root : match.roots) roots.insert(graph.producer(root));
  std::set<NodeId> seen;
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (roots.contains(id)) return true;
    if (id < *roots.begin() || !seen.insert(id).second) continue;
    for (const ValueId operand : graph.operands(graph.node(id)))
      if (operand != kNoValue) pending.push_back(graph.producer(operand));
  }
  return false;
}

}  // namespace isomer
