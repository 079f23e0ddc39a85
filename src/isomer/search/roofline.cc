#include "isomer/search/roofline.h"

namespace isomer {

double roofline_us(const Graph& graph, const SymbolValues& symbols, const RooflineOptions& options) {
  return RooflineCost(symbols, options).metrics(graph).value().latency_us;
}

Result<Interval> RooflineOracle::speedup(const Graph& current, const Graph& candidate) {
  ISOMER_TRY(const Metrics before, cost_.metrics(current));
  ISOMER_TRY(const Metrics after, cost_.metrics(candidate));
  const double ratio = after.latency_us > 0 ? before.latency_us / after.latency_us : (before.latency_us > 0 ? 1e9 : 1);
  return Interval{ratio, ratio, ratio};
}

}  // namespace isomer
