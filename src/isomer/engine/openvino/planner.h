#pragma once
// How OpenVINO groups nodes into kernels: nothing here predicts it. OpenVINO compiles each graph, and its execution
// graph says which nodes it runs together.

#include <functional>
#include <mutex>
#include <unordered_map>

#include "isomer/base/result.h"
#include "isomer/engine/kernels.h"

namespace isomer {

/// The nodes that OpenVINO runs together; nodes that it does not name are in none.
using Fusions = std::vector<std::vector<NodeId>>;

/// The kernels that follow from fusions. A node that OpenVINO does not name, since it became part of others, is in the
/// kernel of its only reader; an opaque one is a kernel. A fusion with several results that are read outside is several
/// kernels.
KernelPlan plan_of_fusions(const Graph& graph, const Fusions& fusions);

class OpenvinoPlanner : public KernelPlanner {
 public:
  /// `fusions` asks OpenVINO about a graph.
  explicit OpenvinoPlanner(std::function<Result<Fusions>(const Graph&)> fusions) : fusions_(std::move(fusions)) {}
  /// Takes as long as OpenVINO takes to compile the graph when it is asked about it first. Where that fails, every node
  /// is a kernel.
  KernelPlan plan(const Graph& graph, const Boundary& boundary = {}, const Decisions& decisions = {}) const override;

 private:
  /// The number of a fusion by the hash of the first result of a node: equal graphs may number their nodes differently.
  using Known = std::unordered_map<uint64_t, size_t>;

  const std::function<Result<Fusions>(const Graph&)> fusions_;
  mutable std::mutex lock_;
  mutable std::unordered_map<uint64_t, Known> known_;  // by the hash of the graph
};

}  // namespace isomer
