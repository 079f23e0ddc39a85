#include "isomer/rules/dependence.h"

namespace isomer {

void Dependence::begin(NodeId first) {
  ++group_;
  first_ = first;
  marks_[first] = dependent();
}

bool Dependence::add(NodeId id) {
  if (marks_[id] == independent()) return false;
  marks_[id] = dependent();
  return true;
}

bool Dependence::on_group(ValueId value) {
  if (value == kNoValue) return false;
  const NodeId id = graph_.producer(value);
  if (id < first_) return false;  // nodes are in topological order
  if (marks_[id] < independent()) return search(id);
  return marks_[id] == dependent();
}

/// Searches upward for a node of the group. Uses an explicit stack, because graphs are deep.
bool Dependence::search(NodeId from) {
  struct Visit {
    NodeId node;
    size_t next = 0;  // operand
  };
  std::vector<Visit> path{{from}};
  while (!path.empty()) {
    Visit& visit = path.back();
    const auto operands = graph_.operands(graph_.node(visit.node));
    if (visit.next == operands.size()) {
      ++visited_;
      marks_[visit.node] = independent();
      path.pop_back();
      continue;
    }
    const ValueId operand = operands[visit.next++];
    const NodeId above = operand == kNoValue ? 0 : graph_.producer(operand);
    if (operand == kNoValue || above < first_ || marks_[above] == independent()) continue;
    if (marks_[above] != dependent()) {
      path.push_back({above});
      continue;
    }
    visited_ += static_cast<int64_t>(path.size());
    for (const Visit& below : path) marks_[below.node] = dependent();
    return true;
  }
  return false;
}

}  // namespace isomer
