#pragma once
// Joins element-wise nodes to loops.

#include <vector>

#include "isomer/engine/onednn/fusion.h"

namespace isomer::onednn {

/// Joins groups of element-wise nodes, and a sum that may follow, to groups that are one loop each. Values within a
/// loop are read only in loops: a node that several loops read is in each of them, if computing it again is cheap.
std::vector<Group> with_loops(const Graph& graph, std::vector<Group> groups);

}  // namespace isomer::onednn
