#pragma once
// Evaluation of the expressions of rules over unknown integers.

#include "isomer/rules/functions.h"
#include "isomer/smt/axiom.h"

namespace isomer {

/// A list of integers whose length need not be known.
struct SymbolicList {
  Dim length;
  std::function<Dim(const Dim&)> at;
  std::string name = {};  ///< of a list that a variable stands for
  bool counts = false;    ///< it is 0, 1, 2, ...
};

/// Integers that are all known, or at least few: found by where the index lies among runs of equal steps.
SymbolicList known_positions(Scope& scope, const Dims& items);

/// What the variables of a rule stand for in a proof.
struct SymbolicBinding {
  struct Value {
    SymbolicTensor tensor;
    DType dtype;
    bool weight;
    std::optional<double> uniform;  ///< the number that all elements equal
  };
  std::vector<Value> values;  // by ValueId
  std::map<std::string, ValueId> variables;
  std::map<std::string, std::vector<ValueId>> sequences;
  std::map<std::string, SymbolicAttr> attrs;  // those of a record under "record.attribute"
  std::map<std::string, SymbolicList> lists;
  std::map<std::string, std::vector<std::string>> records;  // names of the attributes that a record has
};

/// Throws GaveUp where an expression is of a kind that proofs do not cover.
class Symbols {
 public:
  Symbols(Scope& scope, const SymbolicBinding& binding) : scope_(scope), binding_(binding), facts_(binding) {}

  /// The value as an attribute. Within `term...`, of this repetition.
  SymbolicAttr attribute(const Expr& expr, std::optional<size_t> repetition) const;
  /// When a condition holds.
  Formula condition(const Expr& expr) const;
  /// The list that `{expr}` has.
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
  SymbolicList as_list(const Value& value) const;
  Value of_lists(const std::string& name, const std::vector<Value>& args) const;
  ExprValue arithmetic(const std::string& op, const ExprValue& left, const ExprValue& right) const;
  ExprValue extreme(bool largest, const ExprValue& left, const ExprValue& right) const;
  Formula comparison(const std::string& op, const ExprValue& left, const ExprValue& right) const;
  std::optional<Formula> list_condition(const Expr& expr) const;
  Formula alike(const std::vector<ExprValue>& args) const;
  Formula fits(const ExprValue& small, const ExprValue& large) const;

  Scope& scope_;
  const SymbolicBinding& binding_;
  Facts facts_;
};

}  // namespace isomer
