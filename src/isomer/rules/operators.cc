// The operators of the rule language, except `and` and `or`.

#include <algorithm>

#include "isomer/rules/functions.h"

namespace isomer {
namespace {

using Operands = std::span<const ExprValue>;

/// / and % of integers, rounding down.
Result<Dim> divided(std::string_view op, const Dim& a, const Dim& b) {
  if (b.is(0)) return fail("division by zero");
  if (op == "/") return floor_div(a, b);
  return a - floor_div(a, b) * b;
}

template <char... name>
Result<ExprValue> calculated(Operands args, const ExprContext&) {
  static constexpr char kName[] = {name...};
  constexpr std::string_view kOp(kName, sizeof(kName));
  return arithmetic(kOp, args[0], args[1], [&](const Dim& a, const Dim& b) { return divided(kOp, a, b); });
}

/// <, <=, >, >= on integers for every value of the symbols; an Error if this is not decided.
template <char... name>
Result<ExprValue> ordered(Operands args, const ExprContext&) {
  static constexpr char kName[] = {name...};
  constexpr std::string_view kOp(kName, sizeof(kName));
  if (std::holds_alternative<double>(args[0]) || std::holds_alternative<double>(args[1])) {
    ISOMER_TRY(const double a, real_of(args[0]));
    ISOMER_TRY(const double b, real_of(args[1]));
    return kOp == "<" ? a < b : kOp == "<=" ? a <= b : kOp == ">" ? a > b : a >= b;
  }
  ISOMER_TRY(const Dim a, dim_of(args[0]));
  ISOMER_TRY(const Dim b, dim_of(args[1]));
  const auto decided = kOp == "<"    ? at_least(b, a + 1)
                       : kOp == "<=" ? at_least(b, a)
                       : kOp == ">"  ? at_least(a, b + 1)
                                     : at_least(a, b);
  if (!decided) return fail("{} {} {} is not known for every size", a.str(), kOp, b.str());
  return *decided;
}

Result<ExprValue> equal(Operands args, const ExprContext&) { return equal_values(args[0], args[1]); }

/// Whether the values differ for every value of the symbols.
Result<ExprValue> differs(Operands args, const ExprContext&) {
  const auto* a = std::get_if<Dim>(&args[0]);
  const auto* b = std::get_if<Dim>(&args[1]);
  if (a != nullptr && b != nullptr && !(*a == *b)) {
    const Dim difference = *a - *b;
    if (difference.is_const()) return true;
    if (at_least(*a, *b + 1) == true || at_least(*b, *a + 1) == true) return true;
    return fail("{} != {} is not known for every size", a->str(), b->str());
  }
  return !equal_values(args[0], args[1]);
}

Result<ExprValue> negated(Operands args, const ExprContext&) {
  if (const bool* known = std::get_if<bool>(&args[0])) return !*known;
  return fail("a condition is expected");
}

Result<ExprValue> element_at(Operands args, const ExprContext&) {
  const Dims* elements = std::get_if<Dims>(&args[0]);
  if (elements == nullptr) return fail("a list is expected");
  ISOMER_TRY(const int64_t index, int_of(args[1]));
  const auto n = static_cast<int64_t>(elements->size());
  if (index < -n || index >= n) return fail("index {} is out of range", index);
  return (*elements)[static_cast<size_t>(index < 0 ? index + n : index)];
}

constexpr RuleFunction kOperators[] = {
    {"+", 2, 2, calculated<'+'>}, {"-", 2, 2, calculated<'-'>},
    {"*", 2, 2, calculated<'*'>}, {"/", 2, 2, calculated<'/'>},
    {"%", 2, 2, calculated<'%'>}, {"++", 2, 2, calculated<'+', '+'>},
    {"<", 2, 2, ordered<'<'>},    {"<=", 2, 2, ordered<'<', '='>},
    {">", 2, 2, ordered<'>'>},    {">=", 2, 2, ordered<'>', '='>},
    {"==", 2, 2, equal},          {"!=", 2, 2, differs},
    {"not", 1, 1, negated},       {"at", 2, 2, element_at},
};

}  // namespace

const RuleFunction* find_rule_operator(std::string_view name) {
  const auto* const found = std::ranges::find(kOperators, name, &RuleFunction::name);
  return found == std::end(kOperators) ? nullptr : found;
}

}  // namespace isomer
