#pragma once
// The only way to make a Graph: infers types, shares equal nodes, refuses what is ill typed.

#include <span>
#include <unordered_map>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

class GraphBuilder {
 public:
  /// `names` is the side table that origins point into.
  explicit GraphBuilder(std::shared_ptr<const NameTable> names = std::make_shared<NameTable>());

  /// The next graph input. Its name, if it shall have one, is given by set_origin or by `name`.
  ValueId input(TensorType type);
  /// A constant; equal constants are shared.
  ValueId constant(Tensor tensor);
  /// A node of a declared operator. `attrs` may leave out presets. Fails with the reason when it is ill typed.
  Result<NodeId> node(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands, size_t num_results = 0);
  /// As `node`, for the first result.
  Result<ValueId> add(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands);
  Result<ValueId> add(const OpDef& op, const Attrs& attrs, std::initializer_list<ValueId> operands) {
    return add(op, attrs, std::span<const ValueId>(operands.begin(), operands.size()));
  }
  /// An opaque node with given result types. Never shared.
  NodeId opaque(Attrs attrs, std::span<const ValueId> operands, std::vector<TensorType> types);
  /// A copy of a node of another graph over `operands`. Skips inference where the operand types are unchanged.
  Result<NodeId> copy(const Graph& from, const Node& node, std::span<const ValueId> operands);

  const TensorType& type(ValueId value) const { return graph_.types_[value]; }
  const Node& at(NodeId id) const { return graph_.nodes_[id]; }
  const Tensor* constant_data(ValueId value) const { return graph_.constant(value); }
  const Graph& peek() const { return graph_; }  ///< what is built so far; not indexed

  /// Ties a value to the model's side tables. The first origin that a value gets stays.
  void set_origin(ValueId value, Origin origin);
  /// Gives a value a name of its own (adds to a private copy of the name table). For graphs made by hand.
  void name(ValueId value, const std::string& name);
  /// A better known type for a value that is not fully known (an opaque node's result).
  void refine(ValueId value, TensorType type) { graph_.types_[value] = std::move(type); }

  /// The finished graph: nodes that no output needs are dropped (inputs stay). The builder is empty afterwards.
  Graph finish(std::span<const ValueId> outputs);

 private:
  Result<std::vector<TensorType>> infer_results(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands,
                                                size_t num_results) const;
  NodeId append(const OpDef& op, Attrs attrs, std::span<const ValueId> operands, std::vector<TensorType> types,
                uint64_t hash);
  const NodeId* find_equal(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands, size_t num_results,
                           uint64_t hash) const;
  uint64_t node_hash(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands, size_t num_results) const;

  Graph graph_;
  std::shared_ptr<NameTable> own_names_;
  std::unordered_map<uint64_t, NodeId> by_hash_;
};

}  // namespace isomer
