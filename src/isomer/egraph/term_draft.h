#pragma once
// Terms that may become part of a TermGraph: they are made and typed first, and only then added or dropped.

#include "isomer/egraph/term_graph.h"
#include "isomer/rules/instantiate.h"

namespace isomer {

class TermDraft : public TermBuilder {
 public:
  explicit TermDraft(TermGraph& graph) : graph_(graph) {}

  const TensorType& type(ValueId id) const override;
  bool is_weight(ValueId id) const override;
  const Tensor* constant(ValueId id) const override;
  Result<std::vector<ValueId>> apply(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands) override;
  ValueId make_constant(Tensor tensor) override { return graph_.constant_leaf(tensor); }

  /// Returns the class of a value, if it is in the graph already.
  std::optional<EClassId> known(ValueId id) const;
  /// Adds everything to the graph; returns the ids of exactly these terms, over the plainest terms of their operands'
  /// classes.
  std::vector<EClassId> commit(std::span<const ValueId> values);

 private:
  static constexpr ValueId kFirst = ValueId{1} << 30;
  struct Node {
    uint32_t label;
    std::vector<ValueId> children;
    TensorType type;
    bool weight;
    bool constant_derived;
    std::optional<EClassId> known;
  };
  /// Appends the results of a node.
  std::vector<ValueId> append(uint32_t label, std::span<const ValueId> operands, const std::vector<TensorType>& types,
                              const std::vector<std::optional<EClassId>>& known);

  bool is_constant_derived(ValueId id) const;

  TermGraph& graph_;
  std::vector<Node> nodes_;
};

}  // namespace isomer
