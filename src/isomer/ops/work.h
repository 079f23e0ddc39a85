#pragma once
// Estimates for given extents: FLOPs, bytes, parameters and peak activation memory of a graph.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

/// Values of symbolic dimensions, by name. Missing symbols count as 1.
using SymbolValues = std::map<std::string, int64_t>;

/// Concrete extents of all values of a graph, by ValueId; nullopt if the rank is not known.
using Extents = std::vector<std::optional<std::vector<int64_t>>>;

/// The extents of all values for these values of the symbols. Every node is inferred again, so that extents that are
/// not polynomials are correct too. If inference fails for these values, the declared type is evaluated.
Extents extents_of(const Graph& graph, const SymbolValues& symbols);

struct Work {
  double flops = 0;
  double bytes = 0;  ///< read and written
};

/// Work of one run of a node. FLOPs are 0 for opaque nodes; bytes are 0 for values of unknown extent. Inputs and
/// constants need no work.
Work work_of(const Graph& graph, const Node& node, const Extents& extents);

struct GraphWork {
  Work run;                ///< one run: all nodes that do not depend only on constants
  int64_t parameters = 0;  ///< elements of constants
  double parameter_bytes = 0;
  double peak_activation_bytes = 0;  ///< see peak_activation_bytes(); without constants
};

/// The maximum number of activation bytes alive at the same time, in the order of the graph's nodes. Inputs are alive
/// from the start, results from their node on, both until their last reader is done; graph outputs until the end.
/// `bytes_of_value` is by ValueId.
double peak_activation_bytes(const Graph& graph, std::span<const double> bytes_of_value);

/// Work of one run of the whole graph.
GraphWork graph_work(const Graph& graph, const Extents& extents);

}  // namespace isomer
