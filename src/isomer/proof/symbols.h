#pragma once
// Evaluates the expressions of rules over unknown integers.

#include "isomer/rules/functions.h"
#include "isomer/smt/axiom.h"

namespace isomer {

/// A list of integers whose length may be unknown.
struct SymbolicList {
  Dim length;
  std::function<Dim(const Dim&)> at;
  std::string name = {};  ///< if it is the list of a variable
  bool counts = false;    ///< it is 0, 1, 2, ...
};

/// Returns a list of known integers, or of a few unknown ones. It is represented by runs of equal steps, which are
/// selected by comparing the index.
SymbolicList known_positions(Scope& scope, const Dims& items);

/// The values of the variables of a rule in a proof.
struct SymbolicBinding {
  struct Value {
    SymbolicTensor tensor;
    DType dtype;
    bool weight;
    std::optional<Element> uniform;  ///< the number that all elements equal, which may be unknown
  };
  std::vector<Value> values;  // by ValueId
  std::map<std::string, ValueId> variables;
  std::map<std::string, std::vector<ValueId>> sequences;
  std::map<std::string, SymbolicAttr> attrs;  // attributes of a record are stored as "record.attribute"
  std::map<std::string, SymbolicList> lists;
  std::map<std::string, std::vector<std::string>> records;  // names of the attributes of a record
};

/// Throws GaveUp if proofs do not support this kind of expression.
class Symbols {
 public:
  Symbols(Scope& scope, const SymbolicBinding& binding) : scope_(scope), binding_(binding), facts_(binding) {}

  /// Returns the value as an attribute; within `term...`, for this repetition.
  SymbolicAttr attribute(const Expr& expr, std::optional<size_t> repetition) const;
  /// Returns a formula that is true if the condition holds.
  Formula condition(const Expr& expr) const;
  /// Returns the list of `{expr}`.
  SymbolicList list(const Expr& expr) const;

 private:
  class Facts : public ValueFacts {
   public:
    explicit Facts(const SymbolicBinding& binding) : binding_(binding) {}
    const TensorType& type(ValueId value) const override;
    bool is_weight(ValueId value) const override { return binding_.values[value].weight; }
    const Tensor* constant(ValueId value) const override;

   private:
    const SymbolicBinding& binding_;
    mutable std::map<ValueId, TensorType> types_;
    mutable Tensor scratch_;
  };

  using Value = std::variant<ExprValue, Element, SymbolicList>;
  Value value(const Expr& expr, std::optional<size_t> repetition) const;
  ExprValue plain(const Expr& expr, std::optional<size_t> repetition) const;
  Value variable(const Expr& expr, std::optional<size_t> repetition) const;
  static Value number(const Element& element);
  SymbolicList as_list(const Value& value) const;
  Value of_lists(const std::string& name, const std::vector<Value>& args) const;
  ExprValue arithmetic(const std::string& op, const ExprValue& left, const ExprValue& right) const;
  ExprValue extreme(bool largest, const ExprValue& left, const ExprValue& right) const;
  Formula comparison(const std::string& op, const ExprValue& left, const ExprValue& right) const;
  std::optional<Formula> list_condition(const Expr& expr) const;
  Formula alike(const std::vector<ExprValue>& args) const;

  Scope& scope_;
  const SymbolicBinding& binding_;
  Facts facts_;
};

/// Returns a number exactly. Throws GaveUp if it is not finite.
Element exactly(double number);

/// Returns an attribute with a known value. Throws GaveUp if proofs do not cover it.
SymbolicAttr fixed_attr(const AttrValue& value);

}  // namespace isomer
