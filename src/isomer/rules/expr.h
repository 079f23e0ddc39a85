#pragma once
// Evaluation of the expressions of rules under a binding, over symbolic dimensions.

#include <boost/container/small_vector.hpp>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "isomer/ir/graph.h"
#include "isomer/rules/rule.h"

namespace isomer {

using Dims = std::vector<Dim>;
/// Values of a graph that a variable stands for: `?x` one, `@x` any number.
struct ValueRef {  // NOLINT(bugprone-exception-escape): small_vector moves without allocating
  boost::container::small_vector<ValueId, 2> ids;
  bool sequence = false;

  static ValueRef one(ValueId id) { return {{id}, false}; }
  static ValueRef all(const std::vector<ValueId>& ids) { return {{ids.begin(), ids.end()}, true}; }
};
/// What an expression evaluates to.
using ExprValue = std::variant<bool, Dim, double, std::string, Dims, std::vector<double>, ValueRef, Tensor>;

/// What the variables of a rule stand for in a match.
struct Binding {
  std::vector<std::pair<std::string, ValueId>> values;
  std::vector<std::pair<std::string, std::vector<ValueId>>> sequences;
  std::vector<std::pair<std::string, ExprValue>> attrs;
  std::vector<std::pair<std::string, Attrs>> records;

  const ValueId* value(std::string_view name) const;
  const std::vector<ValueId>* sequence(std::string_view name) const;
  const ExprValue* attr(std::string_view name) const;
  const Attrs* record(std::string_view name) const;
};

/// What conditions may ask about a value.
class ValueFacts {
 public:
  virtual ~ValueFacts() = default;
  virtual const TensorType& type(ValueId value) const = 0;
  virtual bool is_weight(ValueId value) const = 0;
  virtual const Tensor* constant(ValueId value) const = 0;
};

/// The facts of a finished graph.
class GraphFacts : public ValueFacts {
 public:
  /// `all_weights`: every value counts as a weight.
  explicit GraphFacts(const Graph& graph, bool all_weights = false) : graph_(graph), all_weights_(all_weights) {}
  const TensorType& type(ValueId value) const override { return graph_.type(value); }
  bool is_weight(ValueId value) const override { return all_weights_ || graph_.is_weight(value); }
  const Tensor* constant(ValueId value) const override { return graph_.constant(value); }

 private:
  const Graph& graph_;
  const bool all_weights_;
};

struct ExprContext {
  const Binding& binding;
  const ValueFacts& facts;
  /// Within `term...`: which repetition; then `@x` is the value of this repetition.
  std::optional<size_t> repetition = std::nullopt;
};

/// The value, or why there is none (a dimension that does not exist, an attribute of another kind). Not a user error:
/// the match does not hold.
Result<ExprValue> evaluate(const Expr& expr, const ExprContext& context);

/// Whether the condition holds for every value of the symbolic dimensions; an Error says why not.
Status holds(const Expr& condition, const ExprContext& context);

/// The expression value that an attribute stands for, and back (to the kind that the operator declares; a number for an
/// attribute of kind Tensor becomes one element of `element`).
ExprValue from_attr(const AttrValue& value);
Result<AttrValue> to_attr(const ExprValue& value, AttrKind kind, DType element);
/// Equality of what two expressions gave; symbolic dimensions must be equal always. A real number equals a constant of
/// one such element.
bool equal_values(const ExprValue& a, const ExprValue& b);

/// The number that all elements of a constant equal, if they do (real and integer dtypes).
std::optional<double> uniform_value(const Tensor& tensor);

/// Whether the rule language has a function of this name; and all of them with their one-line descriptions.
bool is_rule_function(std::string_view name);
std::vector<std::pair<std::string, std::string>> rule_functions();

}  // namespace isomer
