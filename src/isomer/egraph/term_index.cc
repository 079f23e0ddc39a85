#include "isomer/egraph/term_index.h"

#include <algorithm>

namespace isomer {

TermIndex::TermIndex(const TermGraph& graph) : graph_(graph) {
  for (const EClassId id : graph.egraph().classes())
    for (const ENode& node : graph.egraph().nodes(id)) {
      const TermLabel& label = graph.at(node.label);
      if (label.op != nullptr && label.result == 0) by_op_[label.op].push_back({id, &node});
    }
  first_ids_.resize(graph.egraph().ids(), kUnbound);
  for (EClassId id = 0; id < first_ids_.size(); ++id) {
    EClassId& first = first_ids_[graph.find(id)];
    first = std::min(first, id);
  }
}

std::span<const TermIndex::Place> TermIndex::of(const OpDef& op) const {
  const auto found = by_op_.find(&op);
  return found == by_op_.end() ? std::span<const TermIndex::Place>() : std::span<const TermIndex::Place>(found->second);
}

std::vector<ExprValue> TermIndex::values(const OpDef& op, const std::string& attr) const {
  std::vector<ExprValue> out;
  for (const Place& place : of(op)) {
    const AttrValue* value = graph_.at(place.node->label).attrs.find(attr);
    if (value == nullptr) continue;
    ExprValue one = from_attr(*value);
    if (std::ranges::none_of(out, [&](const ExprValue& known) { return equal_values(known, one); }))
      out.push_back(std::move(one));
  }
  return out;
}

std::vector<Attrs> TermIndex::records(const OpDef& op, const std::vector<std::string>& without) const {
  std::vector<Attrs> out;
  for (const Place& place : of(op)) {
    Attrs rest = graph_.at(place.node->label).attrs;
    for (const std::string& name : without) rest = rest.without(name);
    if (std::ranges::find(out, rest) == out.end()) out.push_back(std::move(rest));
  }
  return out;
}

}  // namespace isomer
