#pragma once
// What the conditions of a rule say about a variable. Only conditions that hold by themselves count, none within `or`
// or `not`.

#include <string>
#include <string_view>

#include "isomer/rules/rule.h"

namespace isomer {

/// Returns whether the rule has the condition function(variable).
bool asks_for(const Rule& rule, std::string_view function, const std::string& variable);
/// Returns whether the rule has the condition that a value is a certain number.
bool names_value(const Rule& rule, const std::string& variable);
/// Returns whether a condition says that a value is not negative.
bool states_nonnegative(const Expr& condition, const std::string& variable);
/// Returns whether the rule has the condition that a list is a range.
bool counts_up(const Rule& rule, const std::string& variable);

}  // namespace isomer
