#pragma once
// Evaluation of rule expressions under a binding, over symbolic dimensions.

#include <boost/container/small_vector.hpp>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "isomer/ir/graph.h"
#include "isomer/ops/magnitude.h"
#include "isomer/rules/rule.h"

namespace isomer {

using Dims = std::vector<Dim>;
/// The values of a graph that a variable is bound to: one for `?x`, any number for `@x`.
struct ValueRef {  // NOLINT(bugprone-exception-escape): small_vector moves without allocating
  boost::container::small_vector<ValueId, 2> ids;

  static ValueRef one(ValueId id) { return {.ids = {id}}; }
  static ValueRef all(const std::vector<ValueId>& ids) { return {.ids = {ids.begin(), ids.end()}}; }
  friend bool operator==(const ValueRef&, const ValueRef&) = default;
};
/// The result of evaluating an expression.
using ExprValue = std::variant<bool, Dim, double, std::string, Dims, std::vector<double>, ValueRef, Tensor>;

/// The variables of a rule with their values in a match.
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

/// The properties of values that conditions can query.
class ValueFacts {
 public:
  virtual ~ValueFacts() = default;
  virtual const TensorType& type(ValueId value) const = 0;
  virtual bool is_weight(ValueId value) const = 0;
  virtual const Tensor* constant(ValueId value) const = 0;
  /// An upper bound of the absolute values of elements that follow from constants (ops/magnitude.h). 0 for a value that
  /// depends on data or parameters.
  virtual double magnitude(ValueId value) const {
    const Tensor* tensor = constant(value);
    return tensor == nullptr ? 0 : isomer::magnitude(*tensor);
  }
};

/// The facts of a finished graph.
class GraphFacts : public ValueFacts {
 public:
  /// `all_weights`: treats every value as a weight.
  explicit GraphFacts(const Graph& graph, bool all_weights = false) : graph_(graph), all_weights_(all_weights) {}
  const TensorType& type(ValueId value) const override { return graph_.type(value); }
  bool is_weight(ValueId value) const override { return all_weights_ || graph_.is_weight(value); }
  const Tensor* constant(ValueId value) const override { return graph_.constant(value); }
  double magnitude(ValueId value) const override {
    return graph_.is_constant_derived(value) ? isomer::magnitude(graph_, value) : 0;
  }

 private:
  const Graph& graph_;
  const bool all_weights_;
};

struct ExprContext {
  const Binding& binding;
  const ValueFacts& facts;
  /// Within `term...`: the index of the repetition. `@x` then means its element of this repetition.
  std::optional<size_t> repetition = std::nullopt;
};

/// The value, or the reason why there is none (a dimension that does not exist, an attribute of another kind). Such an
/// Error is not a user error: the rule does not match.
Result<ExprValue> evaluate(const Expr& expr, const ExprContext& context);

/// Whether the condition holds for every value of the symbolic dimensions.
bool is_met(const Expr& condition, const ExprContext& context);
/// The same, with the reason why it does not hold as an Error. Slower, because it writes the reason.
Status holds(const Expr& condition, const ExprContext& context);

/// Convert an attribute to an expression value and back. to_attr converts to the kind that the operator declares. For
/// the kind Tensor, a number becomes one element of dtype `element`.
ExprValue from_attr(const AttrValue& value);
Result<AttrValue> to_attr(const ExprValue& value, AttrKind kind, DType element);
/// Whether two expression values are equal. Symbolic dimensions must be equal for all values of the symbols. A real
/// number equals a constant with one such element.
bool equal_values(const ExprValue& a, const ExprValue& b);

/// The value of all elements of a constant if they are equal (real and integer dtypes).
std::optional<double> uniform_value(const Tensor& tensor);

}  // namespace isomer
