#pragma once
// The only way to make a Graph. Infers types, shares equal nodes, and refuses nodes that are ill typed.

#include <optional>
#include <span>

#include "isomer/base/hash_index.h"
#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

class GraphBuilder {
 public:
  /// `names` is the side table to which origins refer.
  explicit GraphBuilder(std::shared_ptr<const NameTable> names = NameTable::empty());

  /// Makes room for a graph of about the size of another one.
  void reserve_like(const Graph& graph);

  /// The next graph input. set_origin or `name` gives it a name, if it should have one.
  ValueId input(TensorType type) { return add_input(share(std::move(type)), false); }
  /// The next graph input, of which the model gives a value.
  ValueId parameter(TensorType type) { return add_input(share(std::move(type)), true); }
  /// The next graph input. It stands for a value of another graph: has its type and origin, and is a parameter if that
  /// is a weight.
  ValueId input_like(const Graph& from, ValueId value);
  /// A constant. Equal constants are shared.
  ValueId constant(Tensor tensor);
  /// A node of a declared operator. `attrs` may omit presets. Fails with the reason if the node is ill typed.
  Result<NodeId> node(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands, size_t num_results = 0);
  /// As `node`, but returns the first result.
  Result<ValueId> add(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands);
  Result<ValueId> add(const OpDef& op, const Attrs& attrs, std::initializer_list<ValueId> operands) {
    return add(op, attrs, std::span<const ValueId>(operands.begin(), operands.size()));
  }
  /// An opaque node with the given result types. Never shared.
  NodeId opaque(Attrs attrs, std::span<const ValueId> operands, std::vector<TensorType> types);
  /// A copy of a node of another graph with other operands. Skips type inference if the operand types are unchanged.
  Result<NodeId> copy(const Graph& from, const Node& node, std::span<const ValueId> operands);

  /// The first result of an equal node, if there is one. `attrs` are complete; the node has no optional results.
  std::optional<ValueId> find(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands) const;

  const TensorType& type(ValueId value) const { return *graph_.types_[value]; }
  const Node& at(NodeId id) const { return graph_.nodes_[id]; }
  const Tensor* constant_data(ValueId value) const { return graph_.constant(value); }
  const Graph& peek() const { return graph_; }  ///< the nodes so far; consumers and hash are not computed yet

  /// Links a value to the model's side tables. The first origin of a value is kept.
  void set_origin(ValueId value, Origin origin);
  /// Gives a value a name of its own (in a private copy of the name table). For graphs that are not imported.
  void name(ValueId value, const std::string& name);

  /// The finished graph without the nodes that no output needs (inputs are kept). The builder is empty afterwards.
  Graph finish(std::span<const ValueId> outputs);

 private:
  static Graph::SharedType share(TensorType type) { return std::make_shared<const TensorType>(std::move(type)); }
  ValueId add_input(const Graph::SharedType& type, bool parameter);
  std::vector<bool> needed_by(std::span<const ValueId> outputs) const;
  Graph without_dead(const std::vector<bool>& live);
  Result<std::vector<TensorType>> infer_results(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands,
                                                size_t num_results) const;
  NodeId append(const OpDef& op, Attrs attrs, std::span<const ValueId> operands,
                std::span<const Graph::SharedType> types, uint64_t hash);
  NodeId append(const OpDef& op, Attrs attrs, std::span<const ValueId> operands, std::vector<TensorType> types,
                uint64_t hash);
  const NodeId* find_equal(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands, size_t num_results,
                           uint64_t hash) const;
  uint64_t node_hash(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands, size_t num_results) const;

  Graph graph_;
  std::shared_ptr<NameTable> own_names_;
  HashIndex by_hash_;  // nodes
};

}  // namespace isomer
