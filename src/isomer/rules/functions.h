#pragma once
// The functions and operators of the rule language, by name.

#include <span>
#include <string_view>

#include "isomer/base/function_ref.h"
#include "isomer/rules/expr.h"

namespace isomer {

struct RuleFunction {
  std::string_view name;
  size_t min_args;
  size_t max_args;
  Result<ExprValue> (*run)(std::span<const ExprValue> args, const ExprContext& context);
  /// Whether a value has a property. The function is true if all values of its argument have it. nullptr: not a
  /// property.
  bool (*property)(ValueId value, const ExprContext& context) = nullptr;

  /// Fails if the number of arguments is wrong, or the function has no value for them.
  Result<ExprValue> call(std::span<const ExprValue> args, const ExprContext& context) const;
};

/// The function `name`, or nullptr.
const RuleFunction* find_rule_function(std::string_view name);
std::span<const RuleFunction> all_rule_functions();
/// The operator `name` ("+", "==", "at", "not"), or nullptr. `and` and `or` are none: they need not evaluate both
/// sides.
const RuleFunction* find_rule_operator(std::string_view name);

// Typed access to arguments. They fail if the argument is of another kind.
Result<Dim> dim_of(const ExprValue& value);
Result<int64_t> int_of(const ExprValue& value);
Result<Dims> list_of(const ExprValue& value);
Result<ValueId> value_of(const ExprValue& value);
Result<std::span<const ValueId>> values_of(const ExprValue& value);
Result<double> real_of(const ExprValue& value);

using IntegerOperation = FunctionRef<Result<Dim>(const Dim&, const Dim&)>;
/// Applies an operation to two integers, or to two lists element by element (pads, strides).
Result<ExprValue> elementwise(const ExprValue& left, const ExprValue& right, IntegerOperation operation);
/// + - * / % of integers or lists of them, + - * / of numbers if one is real, and ++ of lists. `divide` computes / and
/// % of integers.
Result<ExprValue> arithmetic(std::string_view op, const ExprValue& left, const ExprValue& right,
                             IntegerOperation divide);

}  // namespace isomer
