#pragma once
// A deterministic cost model that needs no device: a kernel takes overhead + max(FLOPs / peak, bytes / bandwidth)
// (Williams, Waterman and Patterson 2009).

#include <unordered_map>
#include <vector>

#include "isomer/cost/cost_model.h"
#include "isomer/cost/node_work.h"
#include "isomer/engine/kernels.h"

namespace isomer {

struct RooflineOptions {
  double flops_per_second = 10e12;
  double bytes_per_second = 500e9;
  double kernel_overhead_us = 5;
  std::vector<int64_t> channel_blocks = {16};  ///< as in CostModel
};

/// Checks the options: rates must be positive, the overhead must not be negative.
Status check(const RooflineOptions& options);

/// The kernels are those of a device that fuses (fused_kernels.h). Views such as Reshape are not kernels; nodes that
/// depend only on weights cost nothing. The inputs and outputs of a part of a graph are in memory, so a part costs as
/// much as if it were a graph by itself. Decisions have no effect.
class RooflineCost : public CostModel {
 public:
  /// `symbols`: values of the symbolic dimensions.
  explicit RooflineCost(SymbolValues symbols = {}, RooflineOptions options = {})
      : symbols_(std::move(symbols)), options_(std::move(options)) {}
  /// Never an Error.
  Result<Metrics> metrics(const Candidate& candidate, const Boundary& boundary = {}) override;
  /// Never an Error.
  Result<std::vector<PlannedKernel>> kernels(const Candidate& candidate) override;
  std::vector<double> value_bytes(const Graph& graph) const override { return bytes_of_values(graph, symbols_); }
  std::vector<int64_t> channel_blocks() const override { return options_.channel_blocks; }
  std::unique_ptr<CostModel> copy() const override { return std::make_unique<RooflineCost>(symbols_, options_); }
  /// nullptr if an extent is symbolic.
  std::unique_ptr<RewriteCosts> rewrites_of(const Graph& graph) override;

 private:
  friend class RooflineRewrites;

  /// Calls `visit(nodes, cost)` for each kernel, in the order of their last nodes. Returns the kernels.
  template <class Visit>
  KernelPlan for_each_kernel(const Graph& graph, const ConcreteTypes& types, const Visit& visit);
  double latency_us(double flops, double bytes) const;
  /// Returns the FLOPs of each node of what replaces a match. They are computed once for equal nodes in equal order.
  const std::vector<double>& target_flops(const Graph& target);

  const SymbolValues symbols_;
  const RooflineOptions options_;
  FlopsCache flops_;
  std::unordered_map<uint64_t, std::vector<double>> target_flops_ = {};  // only for lookups
};

}  // namespace isomer
