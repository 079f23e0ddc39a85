#include "isomer/search/segments.h"

#include <algorithm>

namespace isomer {

Segments::Segments(const Graph& graph, const std::vector<NodeId>& nodes) : graph_(graph), nodes_(nodes) {
  rest_.assign(graph.nodes().size(), false);
  for (const NodeId id : nodes) rest_[id] = true;
}

void Segments::cut(const std::vector<NodeId>& after) {
  const std::vector<NodeId> segment = above(after);
  for (const NodeId id : segment) rest_[id] = false;
  std::vector<NodeId> border;
  const auto keep = [&](NodeId id) { return is_read_below(id); };
  std::ranges::copy_if(segment, std::back_inserter(border), keep);
  std::ranges::copy_if(border_, std::back_inserter(border), keep);
  std::ranges::sort(border);
  if (border == after && !segment.empty()) {
    parts_.push_back(segment);
    border_ = after;
    cuts_.push_back(after);
  } else {
    for (const NodeId id : segment) rest_[id] = true;
  }
}

std::vector<std::vector<NodeId>> Segments::join(size_t threshold, std::vector<NodeId>& cuts) {
  parts_.emplace_back();
  std::ranges::copy_if(nodes_, std::back_inserter(parts_.back()), [&](NodeId id) { return rest_[id]; });
  std::vector<std::vector<NodeId>> joined{std::move(parts_[0])};
  for (size_t i = 1; i < parts_.size(); ++i) {
    std::vector<NodeId>& last = joined.back();
    if (last.size() + parts_[i].size() <= threshold) {
      last.insert(last.end(), parts_[i].begin(), parts_[i].end());
      std::ranges::sort(last);
    } else {
      cuts.insert(cuts.end(), cuts_[i - 1].begin(), cuts_[i - 1].end());
      joined.push_back(std::move(parts_[i]));
    }
  }
  return joined;
}

/// Returns the nodes of the rest that these nodes depend on, and they themselves; ascending.
std::vector<NodeId> Segments::above(const std::vector<NodeId>& below) const {
  std::vector<NodeId> out;
  std::vector<bool> found(rest_.size(), false);
  const auto visit = [&](NodeId id) {
    if (rest_[id] && !found[id]) out.push_back(id);
    found[id] = true;
  };
  for (const NodeId id : below) visit(id);
  for (size_t i = 0; i < out.size(); ++i)
    for (const ValueId operand : graph_.operands(graph_.node(out[i])))
      if (operand != kNoValue) visit(graph_.producer(operand));
  std::ranges::sort(out);
  return out;
}

bool Segments::is_read_below(NodeId id) const {
  const Node& node = graph_.node(id);
  for (uint32_t r = 0; r < node.num_results; ++r)
    if (std::ranges::any_of(graph_.consumers(node.result(r)), [&](NodeId reader) { return rest_[reader]; }))
      return true;
  return false;
}

}  // namespace isomer
