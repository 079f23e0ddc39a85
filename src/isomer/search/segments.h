#pragma once
// Segments of a graph between cuts.

#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

/// Some nodes that are cut into segments, each before the next one.
class Segments {
 public:
  /// `nodes` are in topological order, and must outlive the segments.
  Segments(const Graph& graph, const std::vector<NodeId>& nodes);

  /// Cuts after these nodes (ascending), if that separates everything above them from the rest.
  void cut(const std::vector<NodeId>& after);

  /// Joins segments as long as they have at most `threshold` nodes together. Returns them, and adds the cuts between
  /// them to `cuts`. The segments are gone afterwards.
  std::vector<std::vector<NodeId>> join(size_t threshold, std::vector<NodeId>& cuts);

  /// Returns the number of segments that were cut off.
  size_t size() const { return parts_.size(); }

 private:
  std::vector<NodeId> above(const std::vector<NodeId>& below) const;
  bool is_read_below(NodeId id) const;

  const Graph& graph_;
  const std::vector<NodeId>& nodes_;
  std::vector<bool> rest_;      // by node: not in a segment yet
  std::vector<NodeId> border_;  // what the rest reads from the segments
  std::vector<std::vector<NodeId>> parts_;
  std::vector<std::vector<NodeId>> cuts_;  // after each part
};

}  // namespace isomer
