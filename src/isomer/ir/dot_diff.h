#pragma once
// Two graphs in one picture with the changes marked: text for Graphviz.

#include <string>

#include "isomer/ir/diff.h"

namespace isomer {

struct DotDiffOptions {
  int hops = 2;      ///< unchanged nodes are drawn up to this many edges away from a changed one
  bool all = false;  ///< draws every node
};

/// Draws the graphs next to each other, each in a box. A changed region is a colored box with the same number in both
/// graphs (red before, green after). Changed nodes also show the types of their weights. Nodes further away are drawn
/// as one dashed node per group, with the number of nodes. A group is connected, and no path leads out of it and back.
std::string dot_diff(const Graph& before, const Graph& after, const GraphDiff& diff, const DotDiffOptions& options);

}  // namespace isomer
