#pragma once
// Reverse-mode differentiation of one node. A gradient (OpDef::gradient) is written with GraphValues, whose arithmetic
// adds ordinary operators to the graph:
//
//     void tanh_gradient(Backward& node) { node.give(0, node.gradient() * (1 - node.result() * node.result())); }

#include "isomer/ops/node_writer.h"

namespace isomer {

/// One node, and the gradients of its results.
class Backward : public NodeWriter {
 public:
  /// `gradients` has the gradient of the loss for each result; kNoValue if the loss does not depend on it. `needed`
  /// says for each operand whether its gradient is wanted.
  Backward(GraphBuilder& builder, NodeId node, std::span<const ValueId> gradients, std::vector<bool> needed);

  /// Runs the operator's gradient. Returns the gradient for each operand; kNoValue for those that are not needed or on
  /// which the result does not depend. Fails with the reason if the operator has no gradient, or none for this node.
  Result<std::vector<ValueId>> run();

  size_t num_results() const { return num_results_; }
  GraphValue result(size_t i = 0) { return {*this, first_result_ + static_cast<ValueId>(i)}; }

  /// Whether the gradient for this operand is wanted. Gradients need not be built for other operands.
  bool needs(size_t operand) const { return has(operand) && needed_[operand]; }
  /// Whether there is such a result and the loss depends on it. This always holds for the only result of a node.
  bool has_gradient(size_t result) const { return result < gradients_.size() && gradients_[result] != kNoValue; }
  /// The gradient of the loss for a result. It has the result's type.
  GraphValue gradient(size_t result = 0) { return {*this, gradients_[result]}; }

  /// Sets the gradient for an operand. If the operand broadcasts to the gradient's shape, the gradient is summed over
  /// the axes along which it does.
  void give(size_t operand, GraphValue gradient);

 private:
  GraphValue sum_to(GraphValue gradient, const Shape& shape);

  const ValueId first_result_;
  const size_t num_results_;
  const std::vector<ValueId> gradients_;
  const std::vector<bool> needed_;
  std::vector<ValueId> given_;
};

/// The gradient of a loss of one real number for itself: the number 1 in the type of the loss.
ValueId gradient_of_loss(GraphBuilder& builder, const TensorType& loss);
/// The gradient of a value with two uses.
Result<ValueId> gradient_sum(GraphBuilder& builder, ValueId a, ValueId b);

/// The gradient of functions that are constant almost everywhere, such as Floor and Greater: the loss counts as
/// independent of their operands.
void zero_gradient(Backward& node);

}  // namespace isomer
