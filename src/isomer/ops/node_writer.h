#pragma once
// What a node computes, or its gradient, written as ordinary operators: with GraphValues, whose arithmetic adds nodes
// to the graph (ops/gradient_parts.h).

#include <span>
#include <string_view>
#include <vector>

#include "isomer/ir/builder.h"

namespace isomer {

class NodeWriter;

/// A value of the graph to which nodes are added. Operators on GraphValues add nodes; operands broadcast.
class GraphValue {
 public:
  GraphValue(NodeWriter& node, ValueId id) : node_(&node), id_(id) {}

  ValueId id() const { return id_; }
  NodeWriter& node() const { return *node_; }
  const TensorType& type() const;
  DType dtype() const { return type().dtype; }
  const Shape& shape() const { return *type().shape; }
  size_t rank() const { return shape().size(); }

 private:
  NodeWriter* node_;
  ValueId id_;
};

/// One node, and the graph to which others are added for it.
class NodeWriter {
 public:
  NodeWriter(GraphBuilder& builder, const OpDef& op, Attrs attrs, std::span<const ValueId> operands)
      : builder_(builder), op_(&op), attrs_(std::move(attrs)), operands_(operands.begin(), operands.end()) {}

  const OpDef& op() const { return *op_; }
  const Attrs& attrs() const { return attrs_; }
  size_t num_operands() const { return operands_.size(); }
  bool has(size_t operand) const { return operand < operands_.size() && operands_[operand] != kNoValue; }
  GraphValue operand(size_t i) { return {*this, operands_[i]}; }

  /// The first result of a new node.
  GraphValue call(std::string_view op, const Attrs& attrs, std::span<const GraphValue> operands);
  GraphValue call(std::string_view op, const Attrs& attrs, std::initializer_list<GraphValue> operands) {
    return call(op, attrs, std::span<const GraphValue>(operands.begin(), operands.size()));
  }
  /// All results of a new node.
  std::vector<GraphValue> call_all(std::string_view op, const Attrs& attrs, std::initializer_list<GraphValue> operands,
                                   size_t num_results);
  /// A constant.
  GraphValue constant(Tensor tensor) { return {*this, builder_.constant(std::move(tensor))}; }
  /// The elements of a constant; nullptr if the term is not a constant.
  const Tensor* constant_data(GraphValue term) const { return builder_.constant_data(term.id()); }
  const TensorType& type(ValueId value) const { return builder_.type(value); }

  /// Ends the function that attempt() runs: what it writes does not exist for this node, for this reason.
  [[noreturn]] void refuse(std::string reason) const;

  /// Runs a function that adds nodes. Fails with the reason if it refuses, or if a node would be ill typed.
  template <class F>
  static Status attempt(F write) {
    try {
      write();
    } catch (const Refusal& refusal) {
      return fail("{}", refusal.reason);
    }
    return {};
  }

 private:
  struct Refusal {
    std::string reason;
  };

  GraphBuilder& builder_;
  const OpDef* op_;
  const Attrs attrs_;
  const std::vector<ValueId> operands_;
};

}  // namespace isomer
