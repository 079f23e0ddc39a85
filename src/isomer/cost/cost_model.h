#pragma once
// The predicted cost of a candidate, which is known without running the complete graph.

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/base/result.h"
#include "isomer/ir/run_nodes.h"
#include "isomer/plan/candidate.h"
#include "isomer/plan/neighbors.h"

namespace isomer {

/// The dimensions of a candidate's cost (MetaFlow, section 4.1), for one run. Nodes that depend only on weights cost
/// nothing.
struct Metrics {
  double latency_us = 0;  ///< sum over the kernels
  double flops = 0;
  double bytes = 0;    ///< moved to and from memory
  double kernels = 0;  ///< number of launches
  /// The largest sum of latencies of kernels of which each depends on the one before it.
  double critical_path_us = 0;
  double peak_bytes = 0;  ///< of activations that are live at the same time: predicted, or from the engine's plan
};

/// One kernel of a graph; the latency of the graph is the sum of its kernels' times.
struct PlannedKernel {
  std::vector<NodeId> nodes;  ///< nodes that it runs; for a reorder, the node whose result changes its layout
  bool reorder = false;       ///< it only changes a layout
  double us = 0;              ///< as in Metrics; 0 for an opaque node whose time is unknown
  double weight_bytes = 0;    ///< of weights that the kernel does not find in a cache of its core; 0 if unknown
};

/// What memory holds when the most is in use.
struct PeakMemory {
  /// A piece of memory that no kernel uses at that moment, but a later one does.
  struct Held {
    double bytes = 0;
    std::vector<ValueId> values = {};  ///< of the candidate's graph, whose first computations are in it
  };
  double bytes = 0;  ///< all that is in use, as in Metrics
  NodeId place = 0;  ///< the node of the candidate's graph at whose place the kernel runs; the number of nodes: the end
  std::vector<Held> held = {};
};

/// The costs of graphs that one rewrite of a graph leads to. They reuse its FLOPs and bytes.
class RewriteCosts {
 public:
  virtual ~RewriteCosts() = default;
  /// Returns exactly what CostModel::metrics returns for the graph of these nodes, but no memory and no critical path.
  /// Costs must not depend on the boundary. Nothing if only the graph itself can be costed.
  virtual std::optional<Metrics> metrics(const RunNodes& nodes) = 0;
};

/// Returns one of the candidates that will probably be costed next, which is valid until the next call; nullptr: no
/// more are known.
using NextCandidates = std::function<const Candidate*()>;

class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Returns the cost of a candidate. An Error if a kernel cannot be measured; searches skip such a candidate.
  virtual Result<Metrics> metrics(const Candidate& candidate, const Boundary& boundary = {}) = 0;
  /// Returns the kernels that the latency is the sum of, in the order of the graph's nodes. An Error as for `metrics`.
  virtual Result<std::vector<PlannedKernel>> kernels(const Candidate& candidate) = 0;
  /// Announces the candidates that will be costed next, with the same boundary, so that kernels of several candidates
  /// can be measured together. nullptr: none. A wrong announcement costs only time.
  virtual void expect(NextCandidates /*next*/) {}  // NOLINT(performance-unnecessary-value-param): it is kept
  /// After the deadline nothing more is measured: a cost that is still unknown is an Error.
  virtual void measure_until(const Deadline& /*deadline*/) {}
  /// Returns the part of a candidate's latency, in microseconds, that has been measured already; 0 if the engine would
  /// have to measure before it can tell the kernels.
  virtual double known_latency(const Candidate& /*candidate*/) { return 0; }
  /// Returns what it costs a kernel to have neighbors on other cores. An Error if that cannot be measured.
  virtual Result<NeighborCosts> neighbor_costs() { return NeighborCosts(); }
  /// Returns the bytes of every value of a graph, which are needed for the memory outside a part; 0 if unknown.
  virtual std::vector<double> value_bytes(const Graph& graph) const {
    return std::vector<double>(graph.num_values(), 0);
  }
  /// Returns the layout of every value of a candidate, which is needed for the boundaries of its parts. An Error if
  /// something would have to be measured after the deadline.
  virtual Result<std::vector<Layout>> layouts(const Candidate& candidate) const {
    return std::vector<Layout>(candidate.graph.num_values(), Layout::Plain);
  }
  /// Returns whether decisions about layouts change anything.
  virtual bool obeys_layouts() const { return false; }
  /// Returns whether the metrics of a candidate follow decisions to compute values twice.
  virtual bool recomputes() const { return false; }
  /// Returns what the memory of a candidate consists of. An Error as for `metrics`, or if the costs do not know.
  virtual Result<PeakMemory> peak_memory(const Candidate& /*candidate*/) { return fail("the costs know no memory"); }
  /// Returns the numbers of channels per block that rules should choose on the device; empty: not known, so that all
  /// are tried and the costs decide.
  virtual std::vector<int64_t> channel_blocks() const { return {}; }
  /// Returns a model with the same costs, which another thread can use at the same time; nullptr if costs are measured.
  virtual std::unique_ptr<CostModel> copy() const { return nullptr; }
  /// Returns the costs of rewrites of a graph (rules/preview.h), which must outlive them; nullptr if every graph must
  /// be built to be costed.
  virtual std::unique_ptr<RewriteCosts> rewrites_of(const Graph& /*graph*/) { return nullptr; }
};

/// Returns `count` copies of the costs; none if they cannot be copied.
inline std::vector<std::unique_ptr<CostModel>> copies_of(const CostModel& costs, size_t count) {
  std::vector<std::unique_ptr<CostModel>> out;
  while (out.size() < count) {
    auto copy = costs.copy();
    if (copy == nullptr) break;
    out.push_back(std::move(copy));
  }
  return out;
}

}  // namespace isomer
