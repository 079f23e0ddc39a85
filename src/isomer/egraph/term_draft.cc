#include "isomer/egraph/term_draft.h"

#include <algorithm>

#include "isomer/ir/infer_node.h"

namespace isomer {

const TensorType& TermDraft::type(ValueId id) const { return id < kFirst ? graph_.type(id) : nodes_[id - kFirst].type; }

bool TermDraft::is_weight(ValueId id) const { return id < kFirst ? graph_.is_weight(id) : nodes_[id - kFirst].weight; }

bool TermDraft::is_constant_derived(ValueId id) const {
  return id < kFirst ? graph_.is_constant_derived(id) : nodes_[id - kFirst].constant_derived;
}

const Tensor* TermDraft::constant(ValueId id) const {
  const auto in_graph = known(id);
  return in_graph ? graph_.constant(*in_graph) : nullptr;
}

std::optional<EClassId> TermDraft::known(ValueId id) const {
  return id < kFirst ? std::optional(graph_.find(id)) : nodes_[id - kFirst].known;
}

Result<std::vector<ValueId>> TermDraft::apply(const OpDef& op, const Attrs& given, std::span<const ValueId> operands) {
  ISOMER_TRY(const Attrs attrs, complete_attrs(op, given));
  std::optional<uint32_t> label = graph_.find_label(op, attrs);
  std::vector<EClassId> children;
  for (const ValueId operand : operands)
    if (const auto child = known(operand)) children.push_back(*child);
  std::vector<TensorType> types;
  std::vector<std::optional<EClassId>> in_graph;
  if (label && children.size() == operands.size())
    for (uint32_t r = 0; r < graph_.at(*label).results; ++r) {
      const auto found = graph_.egraph().lookup({*label + r, children});
      if (!found) break;
      in_graph.emplace_back(*found);
      types.push_back(graph_.type(*found));
    }
  if (!label || in_graph.size() != graph_.at(*label).results) {
    std::vector<const TensorType*> operand_types;
    for (const ValueId operand : operands)
      operand_types.push_back(operand == graph_.absent() ? nullptr : &type(operand));
    ISOMER_TRY(types, infer_node(op, attrs, operand_types, op.min_results));
    ISOMER_TRY(label, graph_.label_of(op, attrs, types.size()));
    in_graph.assign(types.size(), std::nullopt);
  }
  return append(*label, operands, types, in_graph);
}

std::vector<ValueId> TermDraft::append(uint32_t label, std::span<const ValueId> operands,
                                       const std::vector<TensorType>& types,
                                       const std::vector<std::optional<EClassId>>& known) {
  const auto all = [&](bool (TermDraft::*property)(ValueId) const) {
    return std::ranges::all_of(
        operands, [&](ValueId operand) { return operand == graph_.absent() || (this->*property)(operand); });
  };
  const bool weight = all(&TermDraft::is_weight);
  const bool constant_derived = all(&TermDraft::is_constant_derived);
  std::vector<ValueId> out;
  for (uint32_t r = 0; r < types.size(); ++r) {
    out.push_back(kFirst + static_cast<ValueId>(nodes_.size()));
    nodes_.push_back({label + r, {operands.begin(), operands.end()}, types[r], weight, constant_derived, known[r]});
  }
  return out;
}

std::vector<EClassId> TermDraft::commit(std::span<const ValueId> values) {
  std::vector<EClassId> made;
  const auto exact = [&](ValueId id) { return id < kFirst ? graph_.plainest(id) : made[id - kFirst]; };
  for (const Node& node : nodes_) {
    std::vector<EClassId> children;
    for (const ValueId child : node.children) children.push_back(exact(child));
    made.push_back(graph_.add_term({node.label, children}, {node.type, node.weight, node.constant_derived}));
  }
  std::vector<EClassId> out;
  for (const ValueId value : values) out.push_back(exact(value));
  return out;
}

}  // namespace isomer
