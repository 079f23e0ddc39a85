#include "isomer/proof/rule_conditions.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

namespace isomer {
namespace {

/// Returns the literal that a condition compares value(variable) with by one of these operators, if it is such a
/// condition.
std::optional<double> value_bound(const Expr& condition, std::initializer_list<std::string_view> operators,
                                  const std::string& variable) {
  if (condition.kind != Expr::Kind::Call || std::ranges::find(operators, condition.name) == operators.end())
    return std::nullopt;
  const Expr& left = condition.args[0];
  const Expr& right = condition.args[1];
  if (left.kind != Expr::Kind::Call || left.name != "value" || left.args[0].name != variable) return std::nullopt;
  if (right.kind == Expr::Kind::Integer) return static_cast<double>(right.integer);
  return right.kind == Expr::Kind::Real ? std::optional(right.real) : std::nullopt;
}

}  // namespace

bool names_value(const Rule& rule, const std::string& variable) {
  return std::ranges::any_of(
      rule.conditions, [&](const Expr& condition) { return value_bound(condition, {"=="}, variable).has_value(); });
}

bool states_nonnegative(const Expr& condition, const std::string& variable) {
  return value_bound(condition, {">", ">="}, variable).value_or(-1) >= 0;
}

bool asks_for(const Rule& rule, std::string_view function, const std::string& variable) {
  return std::ranges::any_of(rule.conditions, [&](const Expr& condition) {
    return condition.kind == Expr::Kind::Call && condition.name == function && condition.args[0].name == variable;
  });
}

bool counts_up(const Rule& rule, const std::string& variable) {
  return std::ranges::any_of(rule.conditions, [&](const Expr& condition) {
    return condition.kind == Expr::Kind::Call && condition.name == "==" && condition.args[0].name == variable &&
           condition.args[1].kind == Expr::Kind::Call && condition.args[1].name == "range";
  });
}

}  // namespace isomer
