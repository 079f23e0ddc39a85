#include "isomer/rules/shared_value.h"

#include <algorithm>
#include <string>

#include "isomer/rules/walk.h"

namespace isomer {
namespace {

/// Whether a condition is `len(@s) >= n` for a sequence of the term and an n above 1.
bool demands_two(const Expr& condition, const Term& term) {
  const bool bounds = condition.kind == Expr::Kind::Call && condition.name == ">=" &&
                      condition.args[0].kind == Expr::Kind::Call && condition.args[0].name == "len" &&
                      condition.args[1].kind == Expr::Kind::Integer && condition.args[1].integer > 1;
  return bounds &&
         any_sequence(term, [&](const std::string& name) { return condition.args[0].args[0].name == "@" + name; });
}

/// Returns the term of the second root; nullptr if there may be one root.
const Term* second_term(const Rule& rule) {
  if (rule.sources.size() > 1) return &rule.sources[1];
  const Term& term = rule.sources[0];
  const auto demands = [&](const Expr& condition) { return demands_two(condition, term); };
  return term.repeated && std::ranges::any_of(rule.conditions, demands) ? &term : nullptr;
}

/// Adds the operators from the readers of a variable up to the root of the term. Returns false if it is not there.
bool operators_above(const std::string& name, const Term& term, std::vector<const OpDef*>& out) {
  if (term.kind == Term::Kind::Value) return term.name == name;
  const auto contains = [&](const Term& operand) { return operators_above(name, operand, out); };
  if (!std::ranges::any_of(term.operands, contains)) return false;
  out.push_back(term.op);
  return true;
}

/// Whether all that a node reads at run time is this value, or computed from it alone by so many operators less one.
bool reads_only(const Graph& graph, NodeId id, ValueId value, size_t levels) {
  return std::ranges::all_of(graph.operands(graph.node(id)), [&](ValueId operand) {
    if (operand == kNoValue || operand == value || graph.is_constant_derived(operand)) return true;
    return levels > 1 && reads_only(graph, graph.producer(operand), value, levels - 1);
  });
}

}  // namespace

SharedValue::SharedValue(const Rule& rule) {
  const Term* second = second_term(rule);
  if (second == nullptr || !find(rule.sources[0], *second, down_)) down_.clear();
  all_share_ =
      rule.sources.size() == 1 || (rule.sources.size() == 2 && !rule.sources[0].repeated && !rule.sources[1].repeated);
}

/// Continues the steps to a variable of the first term that the second contains. Operands whose position depends on the
/// match are not looked at.
bool SharedValue::find(const Term& first, const Term& second, Steps& steps) {
  if (first.op->commutative) return false;
  const bool element = steps.empty() && first.repeated;  // `@s` stands for one operand
  for (size_t i = 0; i < first.operands.size(); ++i) {
    const Term& operand = first.operands[i];
    if (operand.repeated || (operand.kind == Term::Kind::Sequence && !element)) return false;
    if (operand.kind == Term::Kind::Apply && (operand.op->min_results != 1 || operand.op->max_results != 1))
      return false;
    steps.push_back({first.op, i});
    if (operand.kind == Term::Kind::Value && operators_above(operand.name, second, above_)) return true;
    if (operand.kind == Term::Kind::Apply && find(operand, second, steps)) return true;
    steps.pop_back();
  }
  return false;
}

/// Returns the value that the pattern's variable stands for if the node is the first root; nothing if it cannot be.
std::optional<ValueId> SharedValue::of(const Graph& graph, NodeId first) const {
  NodeId id = first;
  ValueId value = kNoValue;
  for (const auto& [op, operand] : down_) {
    const Node& node = graph.node(id);
    if (node.op != op || operand >= node.num_operands) return std::nullopt;
    value = graph.operands(node)[operand];
    if (value == kNoValue) break;
    id = graph.producer(value);
  }
  return value;
}

bool SharedValue::may_have_second(const Graph& graph, NodeId first) const {
  if (down_.empty()) return true;
  const auto value = of(graph, first);
  // What is absent has no readers, and can be shared.
  return value && (*value == kNoValue || reaches_second(graph, *value, 0, first));
}

bool SharedValue::may_differ(const Graph& graph, NodeId first, const Change& change) const {
  if (down_.empty() || !all_share_) return true;
  const auto value = of(graph, first);
  return !value || *value == kNoValue || change.above(first) || !reads_only(graph, first, *value, down_.size()) ||
         may_differ_above(graph, *value, 0, *value, change);
}

/// The same for second roots above a value, from which so many operators lead to the shared value.
bool SharedValue::may_differ_above(const Graph& graph, ValueId value, size_t step, ValueId shared,
                                   const Change& change) const {
  if (change.readers(value)) return true;
  return std::ranges::any_of(graph.consumers(value), [&](NodeId reader) {
    const Node& node = graph.node(reader);
    if (node.op != above_[step]) return false;
    if (step + 1 == above_.size()) return change.above(reader) || !reads_only(graph, reader, shared, above_.size());
    for (uint32_t r = 0; r < node.num_results; ++r)
      if (may_differ_above(graph, node.result(r), step + 1, shared, change)) return true;
    return false;
  });
}

bool SharedValue::reaches_second(const Graph& graph, ValueId value, size_t step, NodeId first) const {
  return std::ranges::any_of(graph.consumers(value), [&](NodeId reader) {
    const Node& node = graph.node(reader);
    if (node.op != above_[step]) return false;
    if (step + 1 == above_.size()) return reader != first;
    for (uint32_t r = 0; r < node.num_results; ++r)
      if (reaches_second(graph, node.result(r), step + 1, first)) return true;
    return false;
  });
}

}  // namespace isomer
