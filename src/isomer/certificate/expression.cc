#include "isomer/certificate/expression.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "isomer/certificate/functions.h"
#include "isomer/ir/text.h"
#include "isomer/ops/half.h"

namespace isomer::replay {
namespace {

Result<Value> variable(const std::string& sigil_and_name, const Variables& variables, Repetition repetition) {
  const std::string name = sigil_and_name.substr(1);
  if (sigil_and_name[0] == '@') {
    const auto found = variables.sequences.find(name);
    if (found == variables.sequences.end()) return fail("{} is not bound", sigil_and_name);
    if (!repetition) return Facts{found->second};
    if (*repetition >= found->second.size()) return fail("{} is too short", sigil_and_name);
    return Facts{{found->second[*repetition]}};
  }
  if (const auto value = variables.values.find(name); value != variables.values.end()) return Facts{{value->second}};
  if (const auto found = variables.attributes.find(name); found != variables.attributes.end()) return found->second;
  return fail("{} is not bound", sigil_and_name);
}

/// ?c.group
Result<Value> field(const Expr& expr, const Variables& variables) {
  const auto record = variables.records.find(expr.args[0].name.substr(1));
  if (record == variables.records.end()) return fail("{} is not a record", expr.args[0].name);
  const AttrValue* attribute = record->second.find(expr.name);
  if (attribute == nullptr) return fail("{} has no '{}'", expr.args[0].name, expr.name);
  return value_of(*attribute);
}

/// + - * / % of integers; / and % round down.
Result<Dim> integer_arithmetic(const std::string& op, const Dim& a, const Dim& b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (b.is(0)) return fail("division by zero");
  if (op == "/") return floor_div(a, b);
  if (op == "%") return a - floor_div(a, b) * b;
  return fail("there is no operator '{}'", op);
}

/// Computes with reals if either side is one, with lists element by element, and with integers otherwise.
Result<Value> arithmetic(const std::string& op, const Value& left, const Value& right) {
  if (op == "++") {
    ISOMER_TRY(Dims joined, list(left));
    ISOMER_TRY(const Dims more, list(right));
    joined.insert(joined.end(), more.begin(), more.end());
    return joined;
  }
  if (std::holds_alternative<double>(left) || std::holds_alternative<double>(right)) {
    ISOMER_TRY(const double a, real(left));
    ISOMER_TRY(const double b, real(right));
    if (op == "+") return a + b;
    if (op == "-") return a - b;
    if (op == "*") return a * b;
    if (op == "/") return a / b;
    return fail("'{}' is for integers", op);
  }
  if (std::holds_alternative<Dims>(left) && std::holds_alternative<Dims>(right)) {
    Dims out = std::get<Dims>(left);
    const Dims& other = std::get<Dims>(right);
    if (out.size() != other.size()) return fail("lists of different lengths");
    for (size_t i = 0; i < out.size(); ++i) {
      ISOMER_TRY(out[i], integer_arithmetic(op, out[i], other[i]));
    }
    return out;
  }
  ISOMER_TRY(const Dim a, integer(left));
  ISOMER_TRY(const Dim b, integer(right));
  ISOMER_TRY(Dim out, integer_arithmetic(op, a, b));
  return out;
}

/// < <= > >=; the result must be the same for all values of the symbols.
Result<bool> ordered(const std::string& op, const Value& left, const Value& right) {
  if (std::holds_alternative<double>(left) || std::holds_alternative<double>(right)) {
    ISOMER_TRY(const double a, real(left));
    ISOMER_TRY(const double b, real(right));
    return op == "<" ? a < b : op == "<=" ? a <= b : op == ">" ? a > b : a >= b;
  }
  ISOMER_TRY(const Dim a, integer(left));
  ISOMER_TRY(const Dim b, integer(right));
  std::optional<bool> known;
  if (op == "<") known = at_least(b, a + Dim(1));
  if (op == "<=") known = at_least(b, a);
  if (op == ">") known = at_least(a, b + Dim(1));
  if (op == ">=") known = at_least(a, b);
  if (!known) return fail("{} {} {} depends on the sizes", a.str(), op, b.str());
  return *known;
}

/// Returns whether both differ for all values of the symbols.
Result<bool> unequal(const Value& left, const Value& right) {
  if (equal(left, right)) return false;
  const Dim* a = std::get_if<Dim>(&left);
  const Dim* b = std::get_if<Dim>(&right);
  if (a == nullptr || b == nullptr) return true;
  const bool apart = (*a - *b).is_const() || at_least(*a, *b + Dim(1)) == true || at_least(*b, *a + Dim(1)) == true;
  if (!apart) return fail("{} != {} depends on the sizes", a->str(), b->str());
  return true;
}

Result<bool> truth(const Value& value) {
  if (const bool* known = std::get_if<bool>(&value)) return *known;
  return fail("a condition is expected");
}

/// `and` and `or` evaluate the right side only if the left one does not decide.
Result<Value> connective(const Expr& expr, const Variables& variables, Repetition repetition) {
  ISOMER_TRY(const Value left, evaluate(expr.args[0], variables, repetition));
  ISOMER_TRY(const bool first, truth(left));
  if (expr.name == "and" && !first) return false;
  if (expr.name == "or" && first) return true;
  return evaluate(expr.args[1], variables, repetition);
}

Result<Value> element(const Value& of, const Value& index) {
  ISOMER_TRY(const Dims items, list(of));
  ISOMER_TRY(int64_t at, known_integer(index));
  const auto size = static_cast<int64_t>(items.size());
  if (at < 0) at += size;
  if (at < 0 || at >= size) return fail("a list of {} has no such element", size);
  return items[static_cast<size_t>(at)];
}

Result<Value> call(const Expr& expr, const Variables& variables, Repetition repetition) {
  const std::string& name = expr.name;
  if (name == "and" || name == "or") return connective(expr, variables, repetition);
  std::vector<Value> arguments;
  for (const Expr& argument : expr.args) {
    ISOMER_TRY(Value value, evaluate(argument, variables, repetition));
    arguments.push_back(std::move(value));
  }
  const bool word = std::isalpha(static_cast<unsigned char>(name[0])) != 0;
  if (word && name != "not" && name != "at") return call_function(name, arguments);
  if (arguments.size() != (name == "not" ? 1 : 2)) return fail("'{}' has {} operands", name, arguments.size());
  if (name == "not") {
    ISOMER_TRY(const bool inner, truth(arguments[0]));
    return !inner;
  }
  if (name == "at") return element(arguments[0], arguments[1]);
  if (name == "==") return equal(arguments[0], arguments[1]);
  if (name == "!=") {
    ISOMER_TRY(const bool out, unequal(arguments[0], arguments[1]));
    return out;
  }
  if (name[0] == '<' || name[0] == '>') {
    ISOMER_TRY(const bool out, ordered(name, arguments[0], arguments[1]));
    return out;
  }
  return arithmetic(name, arguments[0], arguments[1]);
}

std::string tensor_text(const Tensor& tensor) { return fmt::format("{}#{:016x}", tensor.type().str(), tensor.hash()); }

template <class T>
std::optional<double> uniform(const Tensor& tensor) {
  const auto elements = tensor.data<T>();
  if (elements.empty()) return std::nullopt;
  const T first = elements[0];
  for (const T one : elements)
    if (static_cast<double>(one) != static_cast<double>(first)) return std::nullopt;
  if constexpr (std::is_same_v<T, int64_t>)  // beyond, several integers are one double
    if (first > (int64_t{1} << 53) || first < -(int64_t{1} << 53)) return std::nullopt;
  return static_cast<double>(first);
}

}  // namespace

Result<Value> evaluate(const Expr& expr, const Variables& variables, Repetition repetition) {
  switch (expr.kind) {
    case Expr::Kind::Integer:
      return Dim(expr.integer);
    case Expr::Kind::Real:
      return expr.real;
    case Expr::Kind::Text:
      return expr.name;
    case Expr::Kind::Variable:
      return variable(expr.name, variables, repetition);
    case Expr::Kind::Field:
      return field(expr, variables);
    case Expr::Kind::Call:
      return call(expr, variables, repetition);
    case Expr::Kind::List:
      break;
  }
  Dims items;
  for (const Expr& argument : expr.args) {
    ISOMER_TRY(const Value value, evaluate(argument, variables, repetition));
    ISOMER_TRY(Dim item, integer(value));
    items.push_back(std::move(item));
  }
  return items;
}

Status holds(const Expr& condition, const Variables& variables) {
  const auto value = evaluate(condition, variables, std::nullopt);
  if (!value) return fail("the condition `{}` has no value: {}", print_expr(condition), value.error().message);
  const bool* known = std::get_if<bool>(&*value);
  if (known == nullptr || !*known) return fail("the condition `{}` does not hold", print_expr(condition));
  return {};
}

Value value_of(const AttrValue& attribute) {
  if (const auto* integer = std::get_if<int64_t>(&attribute)) return Dim(*integer);
  if (const auto* number = std::get_if<float>(&attribute)) return static_cast<double>(*number);
  if (const auto* text = std::get_if<std::string>(&attribute)) return *text;
  if (const auto* integers = std::get_if<Ints>(&attribute)) return Dims(integers->begin(), integers->end());
  if (const auto* numbers = std::get_if<Floats>(&attribute)) return Reals(numbers->begin(), numbers->end());
  if (const auto* tensor = std::get_if<Tensor>(&attribute)) return *tensor;
  std::string lines;
  for (const std::string& text : std::get<Strings>(attribute)) lines += text + "\n";
  return lines;
}

Result<AttrValue> attribute_of(const Value& value, AttrKind kind, DType element) {
  if (kind == AttrKind::Int) {
    ISOMER_TRY(const int64_t out, known_integer(value));
    return AttrValue(out);
  }
  if (kind == AttrKind::Float) {
    ISOMER_TRY(const double out, real(value));
    return AttrValue(static_cast<float>(out));
  }
  if (kind == AttrKind::String && std::holds_alternative<std::string>(value))
    return AttrValue(std::get<std::string>(value));
  if (kind == AttrKind::Ints) {
    ISOMER_TRY(const Dims items, list(value));
    const auto known = concrete(items);
    if (!known) return fail("{} depends on the sizes", shape_str(items));
    return AttrValue(*known);
  }
  if (kind == AttrKind::Floats && std::holds_alternative<Reals>(value)) {
    const Reals& reals = std::get<Reals>(value);
    return AttrValue(Floats(reals.begin(), reals.end()));
  }
  if (kind == AttrKind::Tensor && std::holds_alternative<Tensor>(value)) return AttrValue(std::get<Tensor>(value));
  if (kind == AttrKind::Tensor) {  // a number is a tensor of one element
    ISOMER_TRY(const double number, real(value));
    const auto single = static_cast<float>(number);
    if (element == DType::Float) return AttrValue(Tensor::floats({1}, {single}));
    if (element == DType::Double) return AttrValue(Tensor::of<double>(element, {1}, {number}));
    if (element == DType::Half) return AttrValue(Tensor::of<Half>(element, {1}, {Half(single)}));
    if (element == DType::BFloat16) return AttrValue(Tensor::of<BFloat16>(element, {1}, {BFloat16(single)}));
    if (element == DType::Int64 && number == std::floor(number))
      return AttrValue(Tensor::ints({1}, {static_cast<int64_t>(number)}));
  }
  return fail("{} is not of kind {}", text_of(value), attr_kind_name(kind));
}

bool equal(const Value& a, const Value& b) {
  if (std::holds_alternative<double>(a) != std::holds_alternative<double>(b)) {  // 2 == 2.0
    const auto x = real(a);
    const auto y = real(b);
    return x && y && *x == *y;
  }
  return a == b;
}

std::string text_of(const Value& value) {
  if (const auto* known = std::get_if<bool>(&value)) return *known ? "true" : "false";
  if (const auto* dim = std::get_if<Dim>(&value)) return dim->str();
  if (const auto* number = std::get_if<double>(&value)) return float_str(*number, false);
  if (const auto* text = std::get_if<std::string>(&value)) return isomer::quoted(*text);
  if (const auto* dims = std::get_if<Dims>(&value)) return shape_str(*dims);
  if (const auto* tensor = std::get_if<Tensor>(&value)) return tensor_text(*tensor);
  if (std::holds_alternative<Facts>(value)) return "values";
  std::vector<std::string> parts;
  for (const double number : std::get<Reals>(value)) parts.push_back(float_str(number, false));
  return fmt::format("[{}]", fmt::join(parts, ","));
}

std::string text_of(const Attrs& record) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : record.entries()) {
    const auto* tensor = std::get_if<Tensor>(&value);
    parts.push_back(name + "=" + (tensor != nullptr ? tensor_text(*tensor) : attr_str(value)));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::optional<double> uniform_number(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::Float:
      return uniform<float>(tensor);
    case DType::Double:
      return uniform<double>(tensor);
    case DType::Half:
      return uniform<Half>(tensor);
    case DType::BFloat16:
      return uniform<BFloat16>(tensor);
    case DType::Int32:
      return uniform<int32_t>(tensor);
    case DType::Int64:
      return uniform<int64_t>(tensor);
    default:
      return std::nullopt;
  }
}

}  // namespace isomer::replay
