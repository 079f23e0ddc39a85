#pragma once
// The computation graph. It is immutable, stores its nodes in one array in topological order, and is made only by
// GraphBuilder.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/hash.h"
#include "isomer/ir/op.h"

namespace isomer {

/// Index of a value (a graph input, a constant, or a result of a node) within its graph. The operands of a node have
/// lower ids than its results.
using ValueId = uint32_t;
/// Index of a node within its graph. Inputs and constants are nodes too.
using NodeId = uint32_t;
/// Index into the side tables of the imported model. It is preserved by rewrites.
using Origin = uint32_t;

constexpr ValueId kNoValue = std::numeric_limits<uint32_t>::max();  ///< an absent optional operand
constexpr Origin kNoOrigin = std::numeric_limits<uint32_t>::max();  ///< a value that is not in the model

struct Node {
  const OpDef* op;
  Attrs attrs;
  uint32_t first_operand;
  uint32_t num_operands;
  ValueId first_result;
  uint32_t num_results;
  uint64_t hash;  // of the whole computation up to this node; independent of names and ids

  bool is_input() const { return op->kind == OpDef::Kind::Input; }
  /// Whether it is an input that the model gives a value, which a run may replace.
  bool is_parameter() const { return is_input() && attrs.has("parameter"); }
  bool is_constant() const { return op->kind == OpDef::Kind::Constant; }
  /// Opaque nodes have "@"-attributes: `@op_type`, `@domain`, `@opset`, `@instance` (opaque nodes are never shared),
  /// `@captures` (the number of trailing operands that its subgraphs use by name), `@node` (the serialized ONNX node).
  /// They also have their ONNX attributes if the operator is known but not in normalized form (for instance, a Reshape
  /// with a computed shape).
  bool is_opaque() const { return op->kind == OpDef::Kind::Opaque; }
  ValueId result(uint32_t i = 0) const { return first_result + i; }
};

/// Names of values in the model, by Origin. Shared by all graphs derived from one model.
struct NameTable {
  std::vector<std::string> names;

  /// Returns the table of graphs without names.
  static const std::shared_ptr<const NameTable>& empty();
};

class Graph {
 public:
  std::span<const Node> nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  size_t num_values() const { return types_.size(); }
  std::span<const ValueId> operands(const Node& node) const {
    return {operands_.data() + node.first_operand, node.num_operands};
  }
  const TensorType& type(ValueId value) const { return *types_[value]; }
  /// The node that computes a value.
  NodeId producer(ValueId value) const { return producers_[value]; }
  const Node& producer_node(ValueId value) const { return nodes_[producers_[value]]; }
  /// The index of a value among the results of its producer.
  uint32_t result_index(ValueId value) const { return value - producer_node(value).first_result; }

  /// Graph inputs and outputs in the model's order. One value may be several outputs.
  std::span<const ValueId> inputs() const { return inputs_; }
  std::span<const ValueId> outputs() const { return outputs_; }

  /// The nodes that read a value, ascending. A node that reads it twice is listed once.
  std::span<const NodeId> consumers(ValueId value) const {
    return {consumers_.data() + consumers_begin_[value], consumers_begin_[value + 1] - consumers_begin_[value]};
  }
  bool is_output(ValueId value) const;

  /// Whether a value depends only on constants. Such values cost nothing at run time.
  bool is_constant_derived(ValueId value) const { return depends_[value] == Depends::OnConstants; }
  /// Whether a value depends only on constants and parameters. What rules do with weights is true of all values; it
  /// tends to pay for these.
  bool is_weight(ValueId value) const { return depends_[value] != Depends::OnData; }
  /// Whether a node is executed in a run: it is neither an input nor computed only from constants.
  bool runs(const Node& node) const {
    return !node.is_input() && (node.num_results == 0 || !is_constant_derived(node.result()));
  }
  /// The data of a Constant; nullptr for every other value.
  const Tensor* constant(ValueId value) const;

  Origin origin(ValueId value) const { return origins_[value]; }
  /// The model's name for a value; empty if it has none.
  const std::string& name(ValueId value) const;
  const std::shared_ptr<const NameTable>& name_table() const { return names_; }
  /// Content hash of a value: a hash of the computation that leads to it.
  uint64_t value_hash(ValueId value) const { return hash_mix_result(producer_node(value).hash, result_index(value)); }
  /// Content hash of the graph: of the input types and of what each output computes. Independent of names and of the
  /// order of construction.
  uint64_t hash() const { return hash_; }

  /// Content hash of a result of a node.
  static uint64_t hash_mix_result(uint64_t node_hash, uint32_t index) { return hash_mix(node_hash, index); }
  /// Content hash of the types of the inputs. Into it, hash() mixes the content hash of each output.
  uint64_t inputs_hash() const { return inputs_hash_; }

 private:
  friend class GraphBuilder;
  using SharedType = std::shared_ptr<const TensorType>;
  enum class Depends : uint8_t { OnConstants, OnParameters, OnData };
  void index();  // fills consumers_, depends_ and the hashes of the graph from the rest

  std::vector<Node> nodes_;
  std::vector<ValueId> operands_;
  std::vector<SharedType> types_;  // by value; copies of a node share them
  std::vector<NodeId> producers_;  // by value
  std::vector<Origin> origins_;    // by value
  std::vector<Depends> depends_;   // by value
  std::vector<uint32_t> consumers_begin_;
  std::vector<NodeId> consumers_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::shared_ptr<const NameTable> names_ = NameTable::empty();
  uint64_t inputs_hash_ = 0;
  uint64_t hash_ = 0;
};

}  // namespace isomer
