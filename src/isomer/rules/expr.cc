#include "isomer/rules/expr.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "isomer/ops/half.h"
#include "isomer/rules/functions.h"

namespace isomer {
namespace {

template <class List>
auto* find_named(const List& list, std::string_view name) {
  // Most names are one letter: compared here, they need no call.
  for (const auto& [key, value] : list)
    if (key.size() == name.size() && (name.empty() || key[0] == name[0]) && key == name) return &value;
  return static_cast<decltype(&list.front().second)>(nullptr);
}

Result<ExprValue> variable(const Expr& expr, const ExprContext& context) {
  const std::string_view name = std::string_view(expr.name).substr(1);
  if (expr.name[0] == '@') {
    const auto* values = context.binding.sequence(name);
    if (values == nullptr) return fail("{} is not bound", expr.name);
    if (!context.repetition) return ValueRef::all(*values);
    if (*context.repetition >= values->size()) return fail("{} is too short", expr.name);
    return ValueRef::one((*values)[*context.repetition]);
  }
  if (const ValueId* value = context.binding.value(name)) return ValueRef::one(*value);
  if (const ExprValue* attr = context.binding.attr(name)) return *attr;
  return fail("{} is not bound", expr.name);
}

Result<ExprValue> field(const Expr& expr, const ExprContext& context) {
  const std::string_view record_name = std::string_view(expr.args[0].name).substr(1);
  const Attrs* record = context.binding.record(record_name);
  if (record == nullptr) return fail("{} is not a record of attributes", expr.args[0].name);
  const AttrValue* value = record->find(expr.name);
  if (value == nullptr) return fail("the record {} has no attribute '{}'", record_name, expr.name);
  return from_attr(*value);
}

/// Returns whether a condition holds that is a property of a variable's values; nothing if it is another condition.
/// Most conditions that a matcher evaluates are of this kind, and need no ExprValue.
std::optional<bool> property(const Expr& condition, const ExprContext& context) {
  const RuleFunction* function = condition.function;
  if (function == nullptr || function->property == nullptr || condition.args.size() != 1) return std::nullopt;
  const Expr& variable = condition.args[0];
  if (variable.kind != Expr::Kind::Variable || context.repetition) return std::nullopt;
  const std::string_view name = std::string_view(variable.name).substr(1);
  if (variable.name[0] == '?') {
    const ValueId* value = context.binding.value(name);
    return value == nullptr ? std::nullopt : std::optional(function->property(*value, context));
  }
  const auto* values = context.binding.sequence(name);
  if (values == nullptr) return std::nullopt;
  return std::ranges::all_of(*values, [&](ValueId value) { return function->property(value, context); });
}

/// `and` and `or` with short-circuit evaluation.
Result<ExprValue> connected(const Expr& expr, const ExprContext& context) {
  auto left = evaluate(expr.args[0], context);
  if (!left) return left;
  const bool* known = std::get_if<bool>(&*left);
  if (known == nullptr) return fail("a condition is expected");
  const bool decisive = expr.name == "or";
  return *known == decisive ? std::move(left) : evaluate(expr.args[1], context);
}

Result<ExprValue> call(const Expr& expr, const ExprContext& context) {
  if (expr.function == nullptr) return connected(expr, context);
  boost::container::small_vector<ExprValue, 3> args;
  for (const Expr& arg : expr.args) {
    auto value = evaluate(arg, context);
    if (!value) return value;
    args.push_back(std::move(*value));
  }
  return expr.function->call({args.data(), args.size()}, context);
}

template <class T>
std::optional<double> uniform_elements(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  if (data.empty()) return std::nullopt;
  const T first = data[0];
  for (const T v : data)
    if (static_cast<double>(v) != static_cast<double>(first)) return std::nullopt;
  if constexpr (std::is_same_v<T, int64_t>)  // beyond, several integers are one double
    if (first > (int64_t{1} << 53) || first < -(int64_t{1} << 53)) return std::nullopt;
  return static_cast<double>(first);
}

}  // namespace

const ValueId* Binding::value(std::string_view name) const { return find_named(values, name); }
const std::vector<ValueId>* Binding::sequence(std::string_view name) const { return find_named(sequences, name); }
const ExprValue* Binding::attr(std::string_view name) const { return find_named(attrs, name); }
const Attrs* Binding::record(std::string_view name) const { return find_named(records, name); }

Result<ExprValue> evaluate(const Expr& expr, const ExprContext& context) {
  switch (expr.kind) {
    case Expr::Kind::Integer:
      return Dim(expr.integer);
    case Expr::Kind::Real:
      return expr.real;
    case Expr::Kind::Text:
      return expr.name;
    case Expr::Kind::Variable:
      return variable(expr, context);
    case Expr::Kind::Field:
      return field(expr, context);
    case Expr::Kind::Call:
      return call(expr, context);
    case Expr::Kind::List:
      break;
  }
  Dims list;
  for (const Expr& arg : expr.args) {
    ISOMER_TRY(const ExprValue value, evaluate(arg, context));
    ISOMER_TRY(Dim item, dim_of(value));
    list.push_back(std::move(item));
  }
  return list;
}

bool is_met(const Expr& condition, const ExprContext& context) {
  if (const auto holds = property(condition, context)) return *holds;
  const auto value = evaluate(condition, context);
  const bool* known = value ? std::get_if<bool>(&*value) : nullptr;
  return known != nullptr && *known;
}

Status holds(const Expr& condition, const ExprContext& context) {
  auto value = evaluate(condition, context);
  if (!value) return fail("{}: {}", print_expr(condition), value.error().message);
  const bool* known = std::get_if<bool>(&*value);
  if (known == nullptr || !*known) return fail("{} does not hold", print_expr(condition));
  return {};
}

ExprValue from_attr(const AttrValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return Dim(*i);
  if (const auto* f = std::get_if<float>(&value)) return static_cast<double>(*f);
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* is = std::get_if<Ints>(&value)) return Dims(is->begin(), is->end());
  if (const auto* fs = std::get_if<Floats>(&value)) return std::vector<double>(fs->begin(), fs->end());
  if (const auto* t = std::get_if<Tensor>(&value)) return *t;
  std::string joined;
  for (const std::string& s : std::get<Strings>(value)) joined += s + "\n";
  return joined;
}

Result<AttrValue> to_attr(const ExprValue& value, AttrKind kind, DType element) {
  switch (kind) {
    case AttrKind::Int: {
      ISOMER_TRY(const int64_t integer, int_of(value));
      return AttrValue(integer);
    }
    case AttrKind::Float: {
      ISOMER_TRY(const double real, real_of(value));
      return AttrValue(static_cast<float>(real));
    }
    case AttrKind::String:
      if (const auto* text = std::get_if<std::string>(&value)) return AttrValue(*text);
      return fail("a string is expected");
    case AttrKind::Ints: {
      ISOMER_TRY(const Dims list, list_of(value));
      const auto ints = concrete(list);
      if (!ints) return fail("{} is not known", shape_str(list));
      return AttrValue(*ints);
    }
    case AttrKind::Floats:
      if (const auto* reals = std::get_if<std::vector<double>>(&value))
        return AttrValue(Floats(reals->begin(), reals->end()));
      return fail("a list of numbers is expected");
    case AttrKind::Tensor: {
      if (const auto* tensor = std::get_if<Tensor>(&value)) return AttrValue(*tensor);
      ISOMER_TRY(const double real, real_of(value));
      if (element == DType::Float) return AttrValue(Tensor::floats({1}, {static_cast<float>(real)}));
      if (element == DType::Double) return AttrValue(Tensor::of<double>(element, {1}, {real}));
      if (element == DType::Half) return AttrValue(Tensor::of<Half>(element, {1}, {Half(static_cast<float>(real))}));
      if (element == DType::BFloat16)
        return AttrValue(Tensor::of<BFloat16>(element, {1}, {BFloat16(static_cast<float>(real))}));
      if (element == DType::Int64 && real == std::floor(real))
        return AttrValue(Tensor::ints({1}, {static_cast<int64_t>(real)}));
      return fail("no literal of this element type");
    }
    default:
      return fail("this kind of attribute cannot be computed");
  }
}

namespace {

/// A number, also if given as a constant with one element: `value=0.0` of a ConstantOfShape.
std::optional<double> number_of(const ExprValue& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value))
    return tensor->element_count() == 1 ? uniform_value(*tensor) : std::nullopt;
  const auto real = real_of(value);
  return real ? std::optional(*real) : std::nullopt;
}

}  // namespace

bool equal_values(const ExprValue& a, const ExprValue& b) {
  if (std::holds_alternative<double>(a) == std::holds_alternative<double>(b)) return a == b;
  const auto x = number_of(a);
  const auto y = number_of(b);
  return x && y && *x == *y;
}

std::optional<double> uniform_value(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::Float:
      return uniform_elements<float>(tensor);
    case DType::Double:
      return uniform_elements<double>(tensor);
    case DType::Half:
      return uniform_elements<Half>(tensor);
    case DType::BFloat16:
      return uniform_elements<BFloat16>(tensor);
    case DType::Int64:
      return uniform_elements<int64_t>(tensor);
    case DType::Int32:
      return uniform_elements<int32_t>(tensor);
    default:
      return std::nullopt;
  }
}

}  // namespace isomer
