#pragma once
// The computation graph: immutable, its nodes in one array in topological order, made by GraphBuilder alone.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isomer/ir/op.h"

namespace isomer {

/// Index of a value (a graph input, a constant, a result of a node) within its graph. Every operand has a lower id than
/// the results of the node that reads it.
using ValueId = uint32_t;
/// Index of a node within its graph. Inputs and constants are nodes too.
using NodeId = uint32_t;
/// Index into the side tables of the imported model; survives rewriting.
using Origin = uint32_t;

constexpr ValueId kNoValue = std::numeric_limits<uint32_t>::max();  ///< an absent optional operand
constexpr Origin kNoOrigin = std::numeric_limits<uint32_t>::max();  ///< a value that the model did not have

struct Node {
  const OpDef* op;
  Attrs attrs;
  uint32_t first_operand;
  uint32_t num_operands;
  ValueId first_result;
  uint32_t num_results;
  uint64_t hash;  // of the whole computation that leads to this node; independent of names and ids

  bool is_input() const { return op == &input_op(); }
  bool is_constant() const { return op == &constant_op(); }
  /// Opaque nodes carry "@"-attributes: `@op_type`, `@domain`, `@opset`, `@instance` (opaque nodes are never shared),
  /// `@captures` (how many of the last operands are values that its subgraphs use by name), `@node` (the serialized
  /// ONNX node). Beside them stand its ONNX attributes, where it is an operator of the registry in a form that is not
  /// normalized (say, a Reshape whose shape is computed).
  bool is_opaque() const { return op == &opaque_op(); }
  ValueId result(uint32_t i = 0) const { return first_result + i; }
};

/// Names of values, as the model gave them, by Origin. Shared by all graphs derived from one model.
struct NameTable {
  std::vector<std::string> names;
};

class Graph {
 public:
  std::span<const Node> nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  size_t num_values() const { return types_.size(); }
  std::span<const ValueId> operands(const Node& node) const {
    return {operands_.data() + node.first_operand, node.num_operands};
  }
  const TensorType& type(ValueId value) const { return types_[value]; }
  /// The node that makes a value.
  NodeId producer(ValueId value) const { return producers_[value]; }
  const Node& producer_node(ValueId value) const { return nodes_[producers_[value]]; }
  /// Which result of its producer a value is.
  uint32_t result_index(ValueId value) const { return value - producer_node(value).first_result; }

  /// Graph inputs and outputs in the model's order. One value may be several outputs.
  std::span<const ValueId> inputs() const { return inputs_; }
  std::span<const ValueId> outputs() const { return outputs_; }

  /// The nodes that read a value, ascending; a node that reads it twice stands once.
  std::span<const NodeId> consumers(ValueId value) const {
    return {consumers_.data() + consumers_begin_[value], consumers_begin_[value + 1] - consumers_begin_[value]};
  }
  bool is_output(ValueId value) const;

  /// True for values that depend on constants alone (they cost nothing at run time).
  bool is_weight(ValueId value) const { return weight_[value]; }
  /// The data of a Constant; null for every other value.
  const Tensor* constant(ValueId value) const;

  Origin origin(ValueId value) const { return origins_[value]; }
  /// The model's name for a value; empty when it has none.
  const std::string& name(ValueId value) const;
  const std::shared_ptr<const NameTable>& name_table() const { return names_; }
  /// Content hash of a value: the computation that leads to it.
  uint64_t value_hash(ValueId value) const { return hash_mix_result(producer_node(value).hash, result_index(value)); }
  /// Content hash of the graph: input types, and what each output computes. Independent of names and construction
  /// order.
  uint64_t hash() const { return hash_; }

  static uint64_t hash_mix_result(uint64_t node_hash, uint32_t index);

 private:
  friend class GraphBuilder;
  void index();  // fills consumers_, weight_ and hash_ from the rest

  std::vector<Node> nodes_;
  std::vector<ValueId> operands_;
  std::vector<TensorType> types_;  // by value
  std::vector<NodeId> producers_;  // by value
  std::vector<Origin> origins_;    // by value
  std::vector<bool> weight_;       // by value
  std::vector<uint32_t> consumers_begin_;
  std::vector<NodeId> consumers_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::shared_ptr<const NameTable> names_ = std::make_shared<NameTable>();
  uint64_t hash_ = 0;
};

/// Operand types of a node (null for absent ones), in the form that OpView wants.
std::vector<const TensorType*> operand_types(const Graph& graph, const Node& node);

}  // namespace isomer
