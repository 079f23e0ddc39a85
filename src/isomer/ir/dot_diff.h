#pragma once
// Two graphs as one picture with what changed marked: text for Graphviz.

#include <string>

#include "isomer/ir/diff.h"

namespace isomer {

struct DotDiffOptions {
  int hops = 2;      ///< unchanged nodes are drawn up to so many edges away from a changed one
  bool all = false;  ///< every node is drawn
};

/// The graphs side by side, in a box each. A changed region is a coloured box within, with the same number in both (red
/// before, green after); changed nodes tell the types of their weights too. Nodes further away are drawn as one dashed
/// node each group, with their number: a group is connected, and no path leads out of it and back.
std::string dot_diff(const Graph& before, const Graph& after, const GraphDiff& diff, const DotDiffOptions& options);

}  // namespace isomer
