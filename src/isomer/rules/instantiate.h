#pragma once
// Builds the terms of rules from the values of their variables.

#include "isomer/ir/builder.h"
#include "isomer/rules/expr.h"

namespace isomer {

/// Where the nodes of terms are created: a graph under construction, or an e-graph. Expressions may query facts about
/// existing values.
class TermBuilder : public ValueFacts {
 public:
  /// The results of a new node. `attrs` may omit presets. Fails if the node is ill typed.
  virtual Result<std::vector<ValueId>> apply(const OpDef& op, const Attrs& attrs,
                                             std::span<const ValueId> operands) = 0;
  virtual ValueId make_constant(Tensor tensor) = 0;
};

/// Builds terms in a graph under construction.
class GraphTerms : public TermBuilder {
 public:
  explicit GraphTerms(GraphBuilder& builder) : builder_(builder) {}
  const TensorType& type(ValueId value) const override { return builder_.type(value); }
  bool is_weight(ValueId) const override { return false; }
  const Tensor* constant(ValueId value) const override { return builder_.constant_data(value); }
  ValueId make_constant(Tensor tensor) override { return builder_.constant(std::move(tensor)); }
  Result<std::vector<ValueId>> apply(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands) override;

 protected:
  GraphBuilder& builder() { return builder_; }

 private:
  GraphBuilder& builder_;
};

/// Builds the target terms of a rule from the values of `binding` (ids of `builder`). Returns the values that replace
/// the roots. `element` is the dtype of literals.
Result<std::vector<ValueId>> instantiate_targets(TermBuilder& builder, const Rule& rule, Binding binding,
                                                 DType element);

/// The same in a graph under construction.
Result<std::vector<ValueId>> instantiate_targets(GraphBuilder& builder, const Rule& rule, Binding binding,
                                                 DType element);

/// The same for the source terms: returns the values of the roots. A named literal represents the constant that
/// `binding` has under this name.
Result<std::vector<ValueId>> instantiate_sources(TermBuilder& builder, const Rule& rule, Binding binding,
                                                 DType element);

}  // namespace isomer
