#pragma once
// A deterministic cost without a device: every operator is a kernel whose time is overhead + max(FLOPs / peak, bytes /
// bandwidth) (Williams, Waterman and Patterson 2009).

#include "isomer/cost/cost_model.h"
#include "isomer/cost/node_work.h"

namespace isomer {

struct RooflineOptions {
  double flops_per_second = 10e12;
  double bytes_per_second = 500e9;
  double kernel_overhead_us = 5;
};

/// Whether the options make sense: positive rates, an overhead that is not negative.
Status check(const RooflineOptions& options);

/// Reshapes and their like are no kernels; what depends on weights alone costs nothing. Layouts make no difference.
class RooflineCost : public CostModel {
 public:
  /// `symbols`: the values of symbolic dimensions that costs are for.
  explicit RooflineCost(SymbolValues symbols = {}, RooflineOptions options = {})
      : symbols_(std::move(symbols)), options_(options) {}
  /// Never an Error.
  Result<Metrics> metrics(const Graph& graph, const Boundary& boundary = {}) override;
  /// Never an Error.
  Result<std::vector<PlannedKernel>> kernels(const Graph& graph) override;
  std::vector<double> value_bytes(const Graph& graph) const override { return bytes_of_values(graph, symbols_); }

 private:
  double latency_us(const Work& work) const;

  const SymbolValues symbols_;
  const RooflineOptions options_;
  NodeWorkCache works_;
};

}  // namespace isomer
