#pragma once
// A failing graph made small.

#include <functional>

#include "isomer/ir/graph.h"

namespace isomer::differential {

/// A part of the graph that still fails: as few outputs as can be, and inputs in place of whatever can be left out.
Graph reduced(const Graph& graph, const std::function<bool(const Graph&)>& fails);

}  // namespace isomer::differential
