#include "isomer/ir/diff.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace isomer {
namespace {

/// Joins changed nodes into regions: neighbors, and the operands of the same reader before and after.
class Regions {
 public:
  Regions(const Graph& before, const Graph& after, GraphDiff& diff)
      : before_(before), after_(after), diff_(diff), parent_(before.nodes().size() + after.nodes().size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    join_neighbours(before_, diff_.alignment.to_after, 0);
    join_neighbours(after_, diff_.alignment.to_before, before_.nodes().size());
    for (const NodeId node : diff_.alignment.pairs) {
      const auto xs = ordered_operands(before_, before_.node(node));
      const auto ys = ordered_operands(after_, after_.node(diff_.alignment.to_after[node]));
      for (size_t i = 0; i < xs.size(); ++i) join_values(xs[i], ys[i]);
    }
    const size_t outputs = std::min(before_.outputs().size(), after_.outputs().size());
    for (size_t i = 0; i < outputs; ++i) join_values(before_.outputs()[i], after_.outputs()[i]);
  }

  void number() {
    number(before_, diff_.alignment.to_after, 0, diff_.region_before);
    number(after_, diff_.alignment.to_before, before_.nodes().size(), diff_.region_after);
    diff_.regions = static_cast<uint32_t>(numbers_.size());
  }

 private:
  static bool changed(const Graph& graph, const std::vector<NodeId>& partner, NodeId node) {
    return partner[node] == kNoNode && is_at_run_time(graph, graph.node(node));
  }

  size_t root(size_t item) {
    while (parent_[item] != item) item = parent_[item] = parent_[parent_[item]];
    return item;
  }

  void join_neighbours(const Graph& graph, const std::vector<NodeId>& partner, size_t offset) {
    for (NodeId id = 0; id < partner.size(); ++id) {
      if (!changed(graph, partner, id)) continue;
      for (const ValueId operand : graph.operands(graph.node(id))) {
        if (operand == kNoValue || !changed(graph, partner, graph.producer(operand))) continue;
        parent_[root(offset + id)] = root(offset + graph.producer(operand));
      }
    }
  }

  void join_values(ValueId a, ValueId b) {
    if (a == kNoValue || b == kNoValue) return;
    const NodeId x = before_.producer(a);
    const NodeId y = after_.producer(b);
    if (!changed(before_, diff_.alignment.to_after, x) || !changed(after_, diff_.alignment.to_before, y)) return;
    parent_[root(before_.nodes().size() + y)] = root(x);
  }

  void number(const Graph& graph, const std::vector<NodeId>& partner, size_t offset, std::vector<uint32_t>& regions) {
    regions.assign(partner.size(), kUnchanged);
    for (NodeId id = 0; id < partner.size(); ++id) {
      if (!changed(graph, partner, id)) continue;
      regions[id] = numbers_.try_emplace(root(offset + id), static_cast<uint32_t>(numbers_.size())).first->second;
    }
  }

  const Graph& before_;
  const Graph& after_;
  GraphDiff& diff_;
  std::vector<size_t> parent_;  // union-find forest over the nodes before, followed by the nodes after
  std::unordered_map<size_t, uint32_t> numbers_;
};

}  // namespace

GraphDiff diff_graphs(const Graph& before, const Graph& after) {
  GraphDiff diff{.alignment = align(before, after)};
  Regions(before, after, diff).number();
  return diff;
}

}  // namespace isomer
