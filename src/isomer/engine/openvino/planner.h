#pragma once
// Groups nodes into kernels as OpenVINO does. This is not predicted: OpenVINO compiles each graph, and its execution
// graph shows which nodes it runs together.

#include <functional>
#include <mutex>
#include <unordered_map>

#include "isomer/base/result.h"
#include "isomer/engine/kernels.h"

namespace isomer {

/// Nodes that OpenVINO runs together. Nodes that it does not name are in no list.
using Fusions = std::vector<std::vector<NodeId>>;

/// Returns the kernels that follow from fusions. A node that OpenVINO does not name is part of others and joins the
/// kernel of its only reader. An opaque node is a kernel. A fusion with several results that are read outside becomes
/// several kernels.
KernelPlan plan_of_fusions(const Graph& graph, const Fusions& fusions);

class OpenvinoPlanner : public KernelPlanner {
 public:
  /// `fusions` asks OpenVINO which nodes of a graph it runs together.
  explicit OpenvinoPlanner(std::function<Result<Fusions>(const Graph&)> fusions) : fusions_(std::move(fusions)) {}
  /// The first call for a graph takes as long as OpenVINO takes to compile it. If compilation fails, every node is a
  /// kernel.
  Result<KernelPlan> plan(const Graph& graph, const Boundary& boundary = {}, const Decisions& decisions = {},
                          const Deadline& deadline = Deadline::never()) const override;

 private:
  /// The number of a fusion, by the hash of the first result of a node. Equal graphs may number their nodes
  /// differently.
  using Known = std::unordered_map<uint64_t, size_t>;

  const std::function<Result<Fusions>(const Graph&)> fusions_;
  mutable std::mutex lock_;
  mutable std::unordered_map<uint64_t, Known> known_;  // by the hash of the graph
};

}  // namespace isomer
