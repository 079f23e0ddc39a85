#include "isomer/rules/siblings.h"

#include <algorithm>

namespace isomer {
namespace {

void variables_of(const Term& term, std::set<std::string>& out) {
  if (term.kind == Term::Kind::Value || term.kind == Term::Kind::Sequence) out.insert(term.name);
  for (const Term& operand : term.operands) variables_of(operand, out);
}

std::set<std::string> variables_of(const Term& term) {
  std::set<std::string> out;
  variables_of(term, out);
  return out;
}

/// The variables from which the target is computed.
std::set<std::string> read_by_target(const Rule& rule) {
  std::set<std::string> read;
  for (const Let& let : rule.lets) variables_of(let.term, read);
  for (const Term& target : rule.targets) variables_of(target, read);
  return read;
}

bool has_sequence(const Term& term, const std::string& name) {
  if (term.kind == Term::Kind::Sequence && term.name == name) return true;
  return std::any_of(term.operands.begin(), term.operands.end(), [&](const Term& o) { return has_sequence(o, name); });
}

/// Whether an operator occurs below the root of a term.
bool stands_below(const OpDef* op, const Term& term) {
  return std::any_of(term.operands.begin(), term.operands.end(),
                     [&](const Term& operand) { return operand.op == op || stands_below(op, operand); });
}

}  // namespace

Siblings::Siblings(const Graph& graph, const Rule& rule)
    : graph_(graph), rule_(rule), read_(read_by_target(rule)), dependence_(graph) {}

bool Siblings::begin(NodeId first, const Term& term, const Binding& binding) {
  const std::set<std::string> variables = variables_of(term);
  // If the term's operator occurs only at its root, no node inside the pattern can be in the group.
  reads_all_ = !stands_below(term.op, term) && std::ranges::includes(read_, variables);
  elements_.clear();
  std::ranges::copy_if(read_, std::inserter(elements_, elements_.end()),
                       [&](const std::string& name) { return has_sequence(term, name); });
  dependence_.begin(first);
  const auto depends = [&](ValueId value) { return dependence_.on_group(value); };
  for (const auto& [name, value] : binding.values)
    if (read_.contains(name) && depends(value)) return false;
  for (const auto& [name, values] : binding.sequences)
    if (read_.contains(name) && std::ranges::any_of(values, depends)) return false;
  return true;
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
  const std::set<std::string> read = read_by_target(*match.rule);
  std::vector<NodeId> pending;
  for (const auto& [name, value] : match.binding.values)
    if (read.contains(name) && value != kNoValue) pending.push_back(graph.producer(value));
  for (const auto& [name, values] : match.binding.sequences)
    if (read.contains(name))
      for (const ValueId value : values)
        if (value != kNoValue) pending.push_back(graph.producer(value));
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
