#pragma once
// A deterministic cost without a device: every operator is a kernel whose time is overhead + max(FLOPs / peak, bytes /
// bandwidth).

#include "isomer/runtime/work.h"
#include "isomer/search/oracle.h"

namespace isomer {

struct RooflineOptions {
  double flops_per_second = 10e12;
  double bytes_per_second = 500e9;
  double kernel_overhead_us = 5;
};

/// Microseconds of one run under the model. Reshapes and their like move nothing and cost nothing; what depends on
/// weights alone costs nothing.
double roofline_us(const Graph& graph, const SymbolValues& symbols, const RooflineOptions& options = {});

class RooflineOracle : public Oracle {
 public:
  explicit RooflineOracle(SymbolValues symbols, RooflineOptions options = {})
      : symbols_(std::move(symbols)), options_(options) {}
  Result<Interval> speedup(const Graph& current, const Graph& candidate) override;

 private:
  SymbolValues symbols_;
  RooflineOptions options_;
};

}  // namespace isomer
