#pragma once
// The differences between two graphs, grouped into regions.

#include <cstdint>
#include <limits>
#include <vector>

#include "isomer/ir/alignment.h"

namespace isomer {

constexpr uint32_t kUnchanged = std::numeric_limits<uint32_t>::max();

struct GraphDiff {
  Alignment alignment;
  /// By node: the number of its changed region, from 0, or kUnchanged. A region and its replacement have the same
  /// number.
  std::vector<uint32_t> region_before = {};
  std::vector<uint32_t> region_after = {};
  uint32_t regions = 0;
};

/// A node is changed if it has no partner (see align) and does not depend only on constants. Adjacent changed nodes are
/// in one region. So are nodes that compute the same operand of the same reader before and after.
GraphDiff diff_graphs(const Graph& before, const Graph& after);

}  // namespace isomer
