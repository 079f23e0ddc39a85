#pragma once
// Terms of rules made of what their variables stand for.

#include "isomer/rules/expr.h"

namespace isomer {

/// What the nodes of terms are made in: a graph under construction, an e-graph. Expressions may ask for facts about
/// what is there already.
class TermBuilder : public ValueFacts {
 public:
  /// The results of a node; `attrs` may leave out presets. An Error where the node is ill typed.
  virtual Result<std::vector<ValueId>> apply(const OpDef& op, const Attrs& attrs,
                                             std::span<const ValueId> operands) = 0;
  virtual ValueId make_constant(Tensor tensor) = 0;
};

/// Builds the terms of a rule's target over the values of `binding` (ids of `builder`); returns the values that replace
/// the roots. `element` is the dtype of literals.
Result<std::vector<ValueId>> instantiate_targets(TermBuilder& builder, const Rule& rule, Binding binding,
                                                 DType element);

/// The same of its source: the values of the roots. A literal that has a name stands for the constant that `binding`
/// has under this name.
Result<std::vector<ValueId>> instantiate_sources(TermBuilder& builder, const Rule& rule, Binding binding,
                                                 DType element);

}  // namespace isomer
