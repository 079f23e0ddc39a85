#pragma once
// The roofline model in the two forms that searches over whole graphs ask for.

#include "isomer/cost/roofline.h"
#include "isomer/search/oracle.h"

namespace isomer {

/// Microseconds of one run under the model.
double roofline_us(const Graph& graph, const SymbolValues& symbols, const RooflineOptions& options = {});

class RooflineOracle : public Oracle {
 public:
  explicit RooflineOracle(SymbolValues symbols, RooflineOptions options = {}) : cost_(std::move(symbols), options) {}
  Result<Interval> speedup(const Graph& current, const Graph& candidate) override;

 private:
  RooflineCost cost_;
};

}  // namespace isomer
