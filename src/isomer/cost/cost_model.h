#pragma once
// What a graph costs, before anyone runs it whole.

#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/base/result.h"
#include "isomer/engine/layout.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// The dimensions of a graph's cost (MetaFlow, section 4.1), for one run. What depends on weights alone costs nothing.
struct Metrics {
  double latency_us = 0;  ///< sum over the kernels
  double flops = 0;
  double bytes = 0;       ///< moved to and from memory
  double kernels = 0;     ///< how many are launched
  double peak_bytes = 0;  ///< of activations that live at the same time: foreseen, or as the engine's plan has it
};

/// A kernel that a graph's latency is made of.
struct PlannedKernel {
  std::vector<NodeId> nodes;  ///< those that it runs; of a reorder, the one whose result changes its layout
  bool reorder = false;       ///< it changes a layout and nothing else
  double us = 0;              ///< as in Metrics; 0 for an opaque node whose time is not known
};

class CostModel {
 public:
  virtual ~CostModel() = default;
  /// The cost of a graph. An Error where a kernel cannot be measured; searches pass over such a candidate.
  virtual Result<Metrics> metrics(const Graph& graph, const Boundary& boundary = {}) = 0;
  /// The kernels whose sum the latency is, in the order of the graph's nodes. An Error as for `metrics`.
  virtual Result<std::vector<PlannedKernel>> kernels(const Graph& graph) = 0;
  /// From then on, nothing more is measured: a cost that is not known yet is an Error.
  virtual void measure_until(const Deadline& /*deadline*/) {}
  /// Bytes of every value of a graph, for what lives beside a part of it; 0 where they are not known.
  virtual std::vector<double> value_bytes(const Graph& graph) const {
    return std::vector<double>(graph.num_values(), 0);
  }
  /// The layout of every value of a graph, for the boundaries of its parts.
  virtual std::vector<Layout> layouts(const Graph& graph) const {
    return std::vector<Layout>(graph.num_values(), Layout::Plain);
  }
};

}  // namespace isomer
