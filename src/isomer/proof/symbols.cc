#include "isomer/proof/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isomer {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) throw GaveUp{result.error().message};
  return *std::move(result);
}

bool is_comparison(const std::string& op) {
  return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=";
}

/// Returns whether an expression asks for what only some constants have.
bool asks_about_constants(const Expr& expr) {
  return (expr.kind == Expr::Kind::Call && (expr.name == "weight" || expr.name == "uniform")) ||
         std::ranges::any_of(expr.args, asks_about_constants);
}

bool is_arithmetic(const std::string& op) {
  return op == "+" || op == "-" || op == "*" || op == "/" || op == "%" || op == "++";
}

}  // namespace

const TensorType& Symbols::Facts::type(ValueId value) const {
  if (value >= binding_.values.size()) throw GaveUp{"an absent operand"};
  const SymbolicBinding::Value& known = binding_.values[value];
  return types_.try_emplace(value, TensorType(known.dtype, known.tensor.shape)).first->second;
}

const Tensor* Symbols::Facts::constant(ValueId value) const {
  const auto& uniform = binding_.values[value].uniform;
  if (!uniform) return nullptr;
  const auto number = uniform->number();
  if (!number) throw GaveUp{"a constant whose number is not known"};
  scratch_ = Tensor::of<double>(DType::Double, {1}, {number->convert_to<double>()});
  return &scratch_;
}

Symbols::Value Symbols::number(const Element& element) {
  if (const auto known = element.number()) return ExprValue(known->convert_to<double>());
  return element;
}

Symbols::Value Symbols::variable(const Expr& expr, std::optional<size_t> repetition) const {
  const std::string name = expr.name.substr(1);
  if (expr.name[0] == '@') {
    const auto found = binding_.sequences.find(name);
    if (found == binding_.sequences.end()) throw GaveUp{expr.name + " is not bound"};
    if (!repetition) return ExprValue(ValueRef::all(found->second));
    return ExprValue(ValueRef::one(found->second.at(*repetition)));
  }
  if (const auto found = binding_.variables.find(name); found != binding_.variables.end())
    return ExprValue(ValueRef::one(found->second));
  if (const auto found = binding_.lists.find(name); found != binding_.lists.end()) return found->second;
  const auto attr = binding_.attrs.find(name);
  if (attr == binding_.attrs.end()) throw GaveUp{expr.name + " is not bound"};
  if (const auto* element = std::get_if<Element>(&attr->second)) return number(*element);
  if (const auto* dim = std::get_if<Dim>(&attr->second)) return ExprValue(*dim);
  if (const auto* list = std::get_if<std::vector<Dim>>(&attr->second)) return ExprValue(*list);
  return ExprValue(std::get<std::string>(attr->second));
}

Symbols::Value Symbols::value(const Expr& expr, std::optional<size_t> repetition) const {
  switch (expr.kind) {
    case Expr::Kind::Integer:
      return ExprValue(Dim(expr.integer));
    case Expr::Kind::Real:
      return ExprValue(expr.real);
    case Expr::Kind::Text:
      return ExprValue(expr.name);
    case Expr::Kind::Variable:
      return variable(expr, repetition);
    case Expr::Kind::Field:
      return variable({Expr::Kind::Variable, 0, 0, expr.args[0].name + "." + expr.name, {}}, repetition);
    case Expr::Kind::List: {
      Dims list;
      for (const Expr& arg : expr.args) list.push_back(must(dim_of(plain(arg, repetition))));
      return ExprValue(list);
    }
    case Expr::Kind::Call:
      break;
  }
  if (expr.name == "value" || expr.name == "uniform") {
    const auto found = binding_.variables.find(expr.args[0].name.substr(1));
    if (found != binding_.variables.end()) {
      const std::optional<Element>& uniform = binding_.values[found->second].uniform;
      if (expr.name == "uniform") return ExprValue(uniform.has_value());
      if (uniform) return number(*uniform);
    }
  }
  std::vector<Value> values;
  bool lists = expr.name == "range" || expr.name == "repeat";
  for (const Expr& arg : expr.args) {
    values.push_back(value(arg, repetition));
    lists = lists || std::holds_alternative<SymbolicList>(values.back());
  }
  if (lists) return of_lists(expr.name, values);
  std::vector<ExprValue> args;
  for (const Expr& arg : expr.args) args.push_back(plain(arg, repetition));
  if (expr.name == "value" && std::holds_alternative<double>(args[0])) return args[0];  // of an attribute
  if (is_arithmetic(expr.name)) return arithmetic(expr.name, args[0], args[1]);
  if (expr.name == "max" || expr.name == "min") return extreme(expr.name == "max", args[0], args[1]);
  if (expr.name == "at") {
    const Dims list = must(list_of(args[0]));
    const int64_t index = must(int_of(args[1]));
    const auto n = static_cast<int64_t>(list.size());
    if (index < -n || index >= n) throw GaveUp{"an index out of range"};
    return ExprValue(list[static_cast<size_t>(index < 0 ? index + n : index)]);
  }
  const RuleFunction* function = find_rule_function(expr.name);
  if (function == nullptr) throw GaveUp{"no proof knows " + expr.name};
  static const Binding kNone;
  return must(function->call(args, ExprContext{kNone, facts_, repetition}));
}

ExprValue Symbols::plain(const Expr& expr, std::optional<size_t> repetition) const {
  Value out = value(expr, repetition);
  if (auto* known = std::get_if<ExprValue>(&out)) return std::move(*known);
  throw GaveUp{print_expr(expr) + " is a number that is not known"};
}

ExprValue Symbols::arithmetic(const std::string& op, const ExprValue& left, const ExprValue& right) const {
  return must(isomer::arithmetic(op, left, right, [&](const Dim& a, const Dim& b) -> Result<Dim> {
    scope_.assume(!equal(b, 0));
    return op == "/" ? scope_.quotient(a, b) : scope_.remainder(a, b);
  }));
}

ExprValue Symbols::extreme(bool largest, const ExprValue& left, const ExprValue& right) const {
  return must(elementwise(left, right, [&](const Dim& a, const Dim& b) -> Result<Dim> {
    return scope_.decide(at_most(a, b)) == largest ? b : a;
  }));
}

Element exactly(double number) {
  if (!std::isfinite(number)) throw GaveUp{"a number that is not finite"};
  return Rational(number);
}

SymbolicAttr fixed_attr(const AttrValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return Dim(*i);
  if (const auto* f = std::get_if<float>(&value)) return exactly(*f);
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* is = std::get_if<Ints>(&value)) return std::vector<Dim>(is->begin(), is->end());
  if (const auto* tensor = std::get_if<Tensor>(&value))
    if (const auto number = uniform_value(*tensor)) return exactly(*number);
  throw GaveUp{"an attribute that proofs do not cover: " + attr_str(value)};
}

SymbolicAttr Symbols::attribute(const Expr& expr, std::optional<size_t> repetition) const {
  Value out = value(expr, repetition);
  if (auto* element = std::get_if<Element>(&out)) return *element;
  const ExprValue& known = std::get<ExprValue>(out);
  if (const auto* dim = std::get_if<Dim>(&known)) return *dim;
  if (const auto* list = std::get_if<Dims>(&known)) return *list;
  if (const auto* text = std::get_if<std::string>(&known)) return *text;
  if (const auto* number = std::get_if<double>(&known)) return exactly(*number);
  throw GaveUp{print_expr(expr) + " is not an attribute that proofs cover"};
}

// Lists ---------------------------------------------------------------------------------------------------------------

SymbolicList known_positions(Scope& scope, const Dims& items) {
  struct Run {
    int64_t begin;
    Dim first;
    Dim step;
  };
  constexpr size_t kMaxRuns = 32;
  std::vector<Run> runs;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (!runs.empty() && at == runs.back().begin + 1) runs.back().step = items[i] - items[i - 1];
    if (runs.empty() || !(runs.back().first + runs.back().step * Dim(at - runs.back().begin) == items[i]))
      runs.push_back({at, items[i], Dim(0)});
  }
  if (runs.size() > kMaxRuns) throw GaveUp{"a list of positions in no order"};
  const bool counts = runs.size() == 1 && runs[0].first.is(0) && (runs[0].step.is(1) || items.size() == 1);
  return {Dim(static_cast<int64_t>(items.size())),
          [&scope, runs](const Dim& index) {
            size_t r = runs.size();
            while (r > 1 && scope.decide(less(index, Dim(runs[r - 1].begin)))) --r;
            return r == 0 ? Dim(0) : runs[r - 1].first + runs[r - 1].step * (index - Dim(runs[r - 1].begin));
          },
          {},
          counts};
}

SymbolicList Symbols::list(const Expr& expr) const { return as_list(value(expr, std::nullopt)); }

SymbolicList Symbols::as_list(const Value& value) const {
  if (const auto* list = std::get_if<SymbolicList>(&value)) return *list;
  const auto* known = std::get_if<ExprValue>(&value);
  if (known == nullptr) throw GaveUp{"a list is expected"};
  return known_positions(scope_, must(list_of(*known)));
}

Symbols::Value Symbols::of_lists(const std::string& name, const std::vector<Value>& args) const {
  const auto integer = [&](size_t i) {
    const auto* known = std::get_if<ExprValue>(&args.at(i));
    if (known == nullptr) throw GaveUp{"an integer is expected"};
    return must(dim_of(*known));
  };
  if (name == "range" || name == "repeat") {
    const Dim length = integer(args.size() - 1);
    const bool range = name == "range";
    if (length.is_const()) {
      Dims items;
      for (int64_t i = 0; i < length.value(); ++i) items.push_back(range ? Dim(i) : integer(0));
      return ExprValue(items);
    }
    const Dim item = integer(0);
    return SymbolicList{length, [=](const Dim& index) { return range ? index : item; }, {}, range};
  }
  const SymbolicList first = as_list(args[0]);
  if (name == "len") return ExprValue(first.length);
  if (name == "++" || name == "+") {
    const SymbolicList second = as_list(args[1]);
    if (name == "+")
      return SymbolicList{first.length, [=](const Dim& index) { return first.at(index) + second.at(index); }};
    return SymbolicList{first.length + second.length, [scope = &scope_, first, second](const Dim& index) {
                          return scope->decide(less(index, first.length)) ? first.at(index)
                                                                          : second.at(index - first.length);
                        }};
  }
  if (name == "permute") {
    const SymbolicList order = as_list(args[1]);
    return SymbolicList{order.length, [scope = &scope_, first, order](const Dim& index) {
                          const Dim place = order.at(index);
                          return first.at(scope->decide(at_most(0, place)) ? place : place + first.length);
                        }};
  }
  if (name == "places") {
    if (first.counts)
      return SymbolicList{integer(1), [scope = &scope_, first](const Dim& value) {
                            return scope->decide(less(value, first.length)) ? value : first.length;
                          }};
    if (first.name.empty()) throw GaveUp{"places in a list that is computed"};
    return SymbolicList{integer(1), [scope = &scope_, first](const Dim& value) {
                          return scope->place(first.name, value, first.length, first.at);
                        }};
  }
  throw GaveUp{name + " of a list that is not known"};
}

// Conditions ----------------------------------------------------------------------------------------------------------

Formula Symbols::comparison(const std::string& op, const ExprValue& left, const ExprValue& right) const {
  if (op == "!=") return !comparison("==", left, right);
  const auto* a = std::get_if<Dim>(&left);
  const auto* b = std::get_if<Dim>(&right);
  if (a != nullptr && b != nullptr) {
    if (op == "==") return equal(*a, *b);
    if (op == "<") return less(*a, *b);
    if (op == "<=") return at_most(*a, *b);
    return op == ">" ? less(*b, *a) : at_most(*b, *a);
  }
  if (op == "==") {
    const auto* list = std::get_if<Dims>(&left);
    const auto* other = std::get_if<Dims>(&right);
    if (list != nullptr && other != nullptr) return equal(*list, *other);
    return equal_values(left, right);
  }
  const double x = must(real_of(left));
  const double y = must(real_of(right));
  return op == "<" ? x < y : op == "<=" ? x <= y : op == ">" ? x > y : x >= y;
}

Formula Symbols::alike(const std::vector<ExprValue>& args) const {
  const auto values = must(values_of(args[0]));
  std::optional<size_t> axis;
  std::vector<Formula> parts;
  for (const ValueId id : values) {
    const TensorType& first = facts_.type(values[0]);
    const TensorType& type = facts_.type(id);
    if (type.dtype != first.dtype || type.rank() != first.rank()) return false;
    if (args.size() == 2) {
      const int64_t given = must(int_of(args[1]));
      axis = static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(type.rank()) : given);
    }
    for (size_t d = 0; d < type.rank(); ++d)
      if (axis != d) parts.push_back(equal((*type.shape)[d], (*first.shape)[d]));
  }
  return all_of(std::move(parts));
}

/// A condition on lists that are not known is ignored, unless both count up: a proof without the condition is stronger.
std::optional<Formula> Symbols::list_condition(const Expr& expr) const {
  std::vector<SymbolicList> lists;
  for (const Expr& arg : expr.args) {
    const Value known = value(arg, std::nullopt);
    if (const auto* list = std::get_if<SymbolicList>(&known)) lists.push_back(*list);
  }
  if (lists.empty()) return std::nullopt;
  if (expr.name == "==" && lists.size() == 2 && lists[0].counts && lists[1].counts)
    return equal(lists[0].length, lists[1].length);
  return true;
}

Formula Symbols::condition(const Expr& expr) const {
  if (expr.kind != Expr::Kind::Call) throw GaveUp{print_expr(expr) + " is not a condition"};
  if (expr.name == "and") return condition(expr.args[0]) && condition(expr.args[1]);
  // Structures have constants only where the rule always asks for them. `not weight(?x)` holds of other values.
  if ((expr.name == "or" && asks_about_constants(expr)) ||
      (expr.name == "not" && std::ranges::any_of(expr.args[0].args, asks_about_constants)))
    throw GaveUp{print_expr(expr) + " holds of some constants"};
  if (expr.name == "or") return condition(expr.args[0]) || condition(expr.args[1]);
  if (expr.name == "not") {
    if (list_condition(expr.args[0])) return true;
    return !condition(expr.args[0]);
  }
  if (const auto about_lists = list_condition(expr)) return *about_lists;
  std::vector<ExprValue> args;
  for (const Expr& arg : expr.args) args.push_back(plain(arg, std::nullopt));
  if (is_comparison(expr.name)) return comparison(expr.name, args[0], args[1]);
  if (expr.name == "alike") return alike(args);
  std::vector<Formula> parts;
  if (expr.name == "all" || expr.name == "contains" || expr.name == "nonnegative") {
    for (const Dim& item : must(list_of(args[0])))
      parts.push_back(expr.name == "nonnegative" ? at_most(0, item) : equal(item, must(dim_of(args[1]))));
    return expr.name == "contains" ? any_of(std::move(parts)) : all_of(std::move(parts));
  }
  const ExprValue known = plain(expr, std::nullopt);
  if (const bool* truth = std::get_if<bool>(&known)) return *truth;
  throw GaveUp{print_expr(expr) + " is not a condition that proofs cover"};
}

}  // namespace isomer
