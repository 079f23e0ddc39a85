#pragma once
// What changed from one graph to another, in regions.

#include <cstdint>
#include <limits>
#include <vector>

#include "isomer/ir/alignment.h"

namespace isomer {

constexpr uint32_t kUnchanged = std::numeric_limits<uint32_t>::max();

struct GraphDiff {
  Alignment alignment;
  /// By node: the changed region that it is in, from 0, or kUnchanged. What replaces a region has its number.
  std::vector<uint32_t> region_before = {};
  std::vector<uint32_t> region_after = {};
  uint32_t regions = 0;
};

/// Changed is every node without a partner (see align) that does not depend on constants alone. Changed neighbours are
/// in one region, and so are the nodes that give the same reader its operand before and after.
GraphDiff diff_graphs(const Graph& before, const Graph& after);

}  // namespace isomer
