#pragma once
// Builds expressions and terms of the rule language.

#include <string>
#include <vector>

#include "isomer/rules/functions.h"
#include "isomer/rules/rule.h"

namespace isomer {

inline Expr integer_expr(int64_t value) {
  Expr out;
  out.integer = value;
  return out;
}

/// A function or operator of the rule language.
inline Expr call_expr(std::string name, std::vector<Expr> args) {
  Expr out;
  out.kind = Expr::Kind::Call;
  out.function = find_rule_function(name);
  if (out.function == nullptr) out.function = find_rule_operator(name);
  out.name = std::move(name);
  out.args = std::move(args);
  return out;
}

inline Expr list_expr(std::vector<Expr> elements) {
  Expr out;
  out.kind = Expr::Kind::List;
  out.args = std::move(elements);
  return out;
}

/// `?name`.
inline Expr variable_expr(const std::string& name) {
  Expr out;
  out.kind = Expr::Kind::Variable;
  out.name = "?" + name;
  return out;
}

/// `?record.attr`.
inline Expr field_expr(const std::string& record, std::string attr) {
  Expr out;
  out.kind = Expr::Kind::Field;
  out.name = std::move(attr);
  out.args = {variable_expr(record)};
  return out;
}

inline Expr rank_expr(const std::string& name) { return call_expr("rank", {variable_expr(name)}); }

inline Expr dim_expr(const std::string& name, int64_t axis) {
  return call_expr("dim", {variable_expr(name), integer_expr(axis)});
}

/// `?name`.
inline Term variable_term(std::string name) {
  Term out;
  out.name = std::move(name);
  return out;
}

inline Term apply_term(const OpDef& op, std::vector<std::pair<std::string, Expr>> attrs, std::vector<Term> operands) {
  Term out;
  out.kind = Term::Kind::Apply;
  out.op = &op;
  out.attrs = std::move(attrs);
  out.operands = std::move(operands);
  return out;
}

}  // namespace isomer
