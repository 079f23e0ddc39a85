#pragma once
// The kernels of the built-in runtime's plans, for prices. The code that decides while a plan is compiled makes them
// (planning.h), but from a graph that is not canonical, and without compiling (docs/reference/costs.md).

#include <memory>

#include "isomer/engine/kernels.h"

namespace isomer {

namespace onednn {
class ConvWays;
class Tuner;
}  // namespace onednn

class OnednnPlanner : public KernelPlanner {
 public:
  /// `block`: channels per block. `tuner`: that of the plans, so that they have these kernels; it measures the ways to
  /// compute a convolution when it plans the first one of its kind. nullptr: as plans that measure nothing.
  explicit OnednnPlanner(int64_t block, std::shared_ptr<onednn::Tuner> tuner = nullptr, int threads = 1,
                         DType dtype = DType::Float);
  ~OnednnPlanner() override;
  Result<KernelPlan> plan(const Graph& graph, const Boundary& boundary = {}, const Decisions& decisions = {},
                          const Deadline& deadline = Deadline::never()) const override;
  bool obeys_layouts() const override { return true; }
  bool recomputes() const override { return true; }

 private:
  const int64_t block_;
  const int threads_;
  const std::unique_ptr<onednn::ConvWays> convolutions_;
};

}  // namespace isomer
