#pragma once
// The replayer's own reading of the expressions of rules (docs/rules.md): conditions and attributes. It shares the
// syntax tree with the search, and nothing of how the search evaluates it.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "isomer/ir/graph.h"
#include "isomer/rules/rule.h"

namespace isomer::replay {

/// What an expression may ask about a value of a graph. An absent operand has no type.
struct Fact {
  const TensorType* type = nullptr;
  const Tensor* constant = nullptr;  ///< null: no constant
  bool weight = false;               ///< depends on constants alone
  ValueId id = kNoValue;
};
/// What ?x stands for (one), or @x.
struct Facts {
  std::vector<Fact> list;
};

using Dims = std::vector<Dim>;
using Reals = std::vector<double>;
/// What an expression comes to.
using Value = std::variant<bool, Dim, double, std::string, Dims, Reals, Facts, Tensor>;

/// What the variables of a rule stand for, by name without sigil.
struct Variables {
  std::map<std::string, Fact> values = {};                  ///< ?x, a value
  std::map<std::string, std::vector<Fact>> sequences = {};  ///< @x
  std::map<std::string, Value> attributes = {};             ///< ?a, an attribute or a free parameter
  std::map<std::string, Attrs> records = {};                ///< ..c
};

/// Which copy of `term...` an expression stands in; nothing outside of one.
using Repetition = std::optional<size_t>;

/// What the expression comes to, or why it has no value.
Result<Value> evaluate(const Expr& expr, const Variables& variables, Repetition repetition);

/// Fails, with the condition, unless it is true for every value of the symbols.
Status holds(const Expr& condition, const Variables& variables);

/// An attribute of a node as a value, and back. `element` is the element type of literals.
Value value_of(const AttrValue& attribute);
Result<AttrValue> attribute_of(const Value& value, AttrKind kind, DType element);

/// Equal for every value of the symbols.
bool equal(const Value& a, const Value& b);

/// As certificates print it.
std::string text_of(const Value& value);
std::string text_of(const Attrs& record);

/// The number that all elements of a tensor equal; nothing where they differ or are none.
std::optional<double> uniform_number(const Tensor& tensor);

}  // namespace isomer::replay
