#pragma once
// Visits all terms and expressions of a rule, each before its parts, from left to right.

#include <algorithm>

#include "isomer/rules/rule.h"

namespace isomer {

/// Calls `visit` with the term and all terms below it.
template <class AnyTerm, class Visit>
void for_each_term(AnyTerm& term, const Visit& visit) {
  visit(term);
  for (auto& operand : term.operands) for_each_term(operand, visit);
}
/// Calls `visit` with all terms of the sources.
template <class AnyRule, class Visit>
void for_each_source_term(AnyRule& rule, const Visit& visit) {
  for (auto& term : rule.sources) for_each_term(term, visit);
}
/// Calls `visit` with all terms of the named parts of the target, and of the targets.
template <class AnyRule, class Visit>
void for_each_target_term(AnyRule& rule, const Visit& visit) {
  for (auto& let : rule.lets) for_each_term(let.term, visit);
  for (auto& term : rule.targets) for_each_term(term, visit);
}
/// Whether the test holds for the term or one below it.
template <class Test>
bool any_term(const Term& term, const Test& test) {
  return test(term) || std::ranges::any_of(term.operands, [&](const Term& operand) { return any_term(operand, test); });
}

/// Whether the test holds for the name of a sequence in the term.
template <class Test>
bool any_sequence(const Term& term, const Test& test) {
  return any_term(term, [&](const Term& each) { return each.kind == Term::Kind::Sequence && test(each.name); });
}

/// Calls `visit` with the expression and all expressions in it.
template <class AnyExpr, class Visit>
void for_each_expr(AnyExpr& expr, const Visit& visit) {
  visit(expr);
  for (auto& arg : expr.args) for_each_expr(arg, visit);
}
/// Whether the test holds for the expression or one in it.
template <class Test>
bool any_expr(const Expr& expr, const Test& test) {
  return test(expr) || std::ranges::any_of(expr.args, [&](const Expr& arg) { return any_expr(arg, test); });
}

}  // namespace isomer
