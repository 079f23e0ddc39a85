#pragma once
// How the own runtime groups nodes into kernels, and which values it keeps with channels in blocks, foreseen without
// compiling a plan. Groups are the runtime's own; layouts follow what its plans were seen to choose (docs/costs.md).

#include "isomer/engine/kernels.h"

namespace isomer {

class OnednnPlanner : public KernelPlanner {
 public:
  /// `block`: channels in a block.
  explicit OnednnPlanner(int64_t block) : block_(block) {}
  KernelPlan plan(const Graph& graph, const Boundary& boundary) const override;

 private:
  const int64_t block_;
};

}  // namespace isomer
