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
  return bounds && any_term(term, [&](const Term& each) {
           return each.kind == Term::Kind::Sequence && condition.args[0].args[0].name == "@" + each.name;
         });
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

}  // namespace

SharedValue::SharedValue(const Rule& rule) {
  const Term* second = second_term(rule);
  if (second == nullptr || !find(rule.sources[0], *second, down_)) down_.clear();
}

/// Continues the steps to a variable of the first term that the second contains. Operands whose position depends on the
/// match are not looked at.
bool SharedValue::find(const Term& first, const Term& second, Steps& steps) {
  if (first.op->commutative) return false;
  const bool element = steps.empty() && first.repeated;  // `@s` stands for one operand
  for (size_t i = 0; i < first.operands.size(); ++i) {
    const Term& operand = first.operands[i];
    if (operand.repeated || (operand.kind == Term::Kind::Sequence && !element)) return false;
    steps.push_back({first.op, i});
    if (operand.kind == Term::Kind::Value && operators_above(operand.name, second, above_)) return true;
    if (operand.kind == Term::Kind::Apply) {
      if (operand.op->min_results != 1 || operand.op->max_results != 1) return false;
      if (find(operand, second, steps)) return true;
    }
    steps.pop_back();
  }
  return false;
}

bool SharedValue::may_have_second(const Graph& graph, NodeId first) const {
  if (down_.empty()) return true;
  NodeId id = first;
  ValueId value = kNoValue;
  for (const auto& [op, operand] : down_) {
    const Node& node = graph.node(id);
    if (node.op != op || operand >= node.num_operands) return false;
    value = graph.operands(node)[operand];
    if (value == kNoValue) return true;  // what is absent has no readers, and can be shared
    id = graph.producer(value);
  }
  return reaches_second(graph, value, 0, first);
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
