#pragma once
// The kernels of the built-in runtime's plans that measure nothing, for prices. The code that decides while a plan is
// compiled makes them (planning.h), but from a graph that is not canonical, and without compiling
// (docs/reference/costs.md).

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
