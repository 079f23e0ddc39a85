#pragma once
// How the own runtime groups nodes into kernels, and in which layouts values lie between them, foreseen without
// compiling a plan. Groups are the runtime's own, and so are the layouts of convolutions; the rest follows what plans
// do that measure nothing (docs/costs.md).

#include <memory>

#include "isomer/engine/kernels.h"

namespace isomer {

namespace onednn {
class ConvForms;
}

class OnednnPlanner : public KernelPlanner {
 public:
  /// `block`: channels in a block.
  explicit OnednnPlanner(int64_t block);
  ~OnednnPlanner() override;
  KernelPlan plan(const Graph& graph, const Boundary& boundary) const override;

 private:
  const int64_t block_;
  const std::unique_ptr<onednn::ConvForms> convolutions_;  // what oneDNN was asked
};

}  // namespace isomer
