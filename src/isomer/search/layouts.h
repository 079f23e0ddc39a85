#pragma once
// Chooses the layouts of a candidate's values together (TASO, section 2.7): the plan of an engine decides kernel by
// kernel, and a layout that is best for one kernel may cost more in the next ones.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "isomer/cost/cost_model.h"

namespace isomer {

class LayoutChoice {
 public:
  /// Keeps a reference. The costs must obey decisions.
  explicit LayoutChoice(CostModel& costs) : costs_(costs), blocks_(costs.channel_blocks()) {}

  /// Returns the candidate's decisions and new ones about the layouts of values that it computes, with which the sum of
  /// its kernels' latencies is expected to be minimal. The sum is minimized by dynamic programming over the kernels,
  /// each costed by itself for all layouts around it. Values whose channels do not fill blocks, and those around
  /// kernels with more than 8 values, are left to the plan. Otherwise it is exact if every value has one reader, and if
  /// kernels cost by themselves what they cost in the candidate (concatenations in place do not). Compare the costs
  /// before using them.
  Decisions choose(const Candidate& candidate, const Boundary& boundary);

 private:
  friend class LayoutSum;

  CostModel& costs_;
  const std::vector<int64_t> blocks_;
  std::unordered_map<uint64_t, double> known_;  // latency of a kernel by itself, by its graph and all layouts
};

}  // namespace isomer
