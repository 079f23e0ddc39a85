#pragma once
// The replayer's own evaluation of the rules' expressions (docs/reference/rules.md): conditions and attributes. It
// shares the syntax tree with the search, but none of the search's code that evaluates it.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "isomer/ir/graph.h"
#include "isomer/rules/rule.h"

namespace isomer::replay {

/// What an expression may query about a value of a graph. An absent operand has no type.
struct Fact {
  const TensorType* type = nullptr;
  const Tensor* constant = nullptr;  ///< nullptr: not a constant
  bool weight = false;               ///< depends only on constants and parameters
  ValueId id = kNoValue;
  const Graph* derived_in = nullptr;  ///< the graph of a value that follows from constants, but is not one

  friend bool operator==(const Fact& a, const Fact& b) { return a.id == b.id; }
};
/// The value of ?x (one fact), or of @x.
struct Facts {
  std::vector<Fact> list;
  friend bool operator==(const Facts&, const Facts&) = default;
};

using Dims = std::vector<Dim>;
using Reals = std::vector<double>;
/// The value of an expression.
using Value = std::variant<bool, Dim, double, std::string, Dims, Reals, Facts, Tensor>;

/// The values of the variables of a rule, by name without sigil.
struct Variables {
  std::map<std::string, Fact> values = {};                  ///< ?x, a value
  std::map<std::string, std::vector<Fact>> sequences = {};  ///< @x
  std::map<std::string, Value> attributes = {};             ///< ?a, an attribute or a free parameter
  std::map<std::string, Attrs> records = {};                ///< ..c
};

/// The repetition of `term...` that contains an expression; nothing outside of one.
using Repetition = std::optional<size_t>;

/// Returns the value of the expression, or why it has none.
Result<Value> evaluate(const Expr& expr, const Variables& variables, Repetition repetition);

/// Fails, with the condition, unless it is true for all values of the symbols.
Status holds(const Expr& condition, const Variables& variables);

/// Convert an attribute of a node to a value, and back. `element` is the element type of literals.
Value value_of(const AttrValue& attribute);
Result<AttrValue> attribute_of(const Value& value, AttrKind kind, DType element);

/// Returns whether both are equal for all values of the symbols.
bool equal(const Value& a, const Value& b);

/// The format of certificates.
std::string text_of(const Value& value);
std::string text_of(const Attrs& record);

/// Returns the number that all elements of a tensor equal; nothing if they differ or there are none.
std::optional<double> uniform_number(const Tensor& tensor);

}  // namespace isomer::replay
