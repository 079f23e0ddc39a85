#pragma once
// How much a graph computes and moves: FLOPs, bytes, parameters and the peak of live activations, for given extents.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

/// Values of symbolic dimensions, by name. A symbol that is not there counts as 1.
using SymbolValues = std::map<std::string, int64_t>;

/// Concrete extents of every value of a graph, by ValueId; nothing where the rank is not known.
using Extents = std::vector<std::optional<std::vector<int64_t>>>;

/// The extents of all values when the symbols have these values: found by inferring every node anew, so that extents
/// which no polynomial describes come out right too. Where inference fails for these values, the declared type is
/// evaluated.
Extents extents_of(const Graph& graph, const SymbolValues& symbols);

struct Work {
  double flops = 0;
  double bytes = 0;  ///< read and written
};

/// Work of one run of a node: 0 FLOPs for opaque nodes, and 0 bytes for values of unknown extent. Inputs and constants
/// take none.
Work work_of(const Graph& graph, const Node& node, const Extents& extents);

struct GraphWork {
  Work run;                ///< one run: all nodes that do not depend on constants alone
  int64_t parameters = 0;  ///< elements of constants
  double parameter_bytes = 0;
  double peak_activation_bytes = 0;  ///< most bytes alive at once in the order of the graph's nodes; constants excepted
};

/// The most activation bytes alive at once, in the order of the graph's nodes: inputs from the start, results from
/// their node on, each until its last reader is done; graph outputs to the end. `bytes_of_value` is by ValueId.
double peak_activation_bytes(const Graph& graph, std::span<const double> bytes_of_value);

/// Work of one run of the whole graph.
GraphWork graph_work(const Graph& graph, const Extents& extents);

}  // namespace isomer
