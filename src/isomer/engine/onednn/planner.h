#pragma once
// Predicts, without compiling a plan, how the built-in runtime groups nodes into kernels, and in which layouts values
// are between them. Groups and the layouts of convolutions are computed by the runtime's own code; the rest imitates
// plans that measure nothing (docs/reference/costs.md).

#include <memory>

#include "isomer/engine/kernels.h"

namespace isomer {

namespace onednn {
class ConvForms;
}

class OnednnPlanner : public KernelPlanner {
 public:
  /// `block`: channels per block.
  explicit OnednnPlanner(int64_t block);
  ~OnednnPlanner() override;
  KernelPlan plan(const Graph& graph, const Boundary& boundary = {}, const Decisions& decisions = {}) const override;

 private:
  const int64_t block_;
  const std::unique_ptr<onednn::ConvForms> convolutions_;  // the answers of oneDNN
};

}  // namespace isomer
