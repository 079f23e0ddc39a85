#pragma once
// A run of a plan that pauses, so that other plans can run between its parts.

#include <span>
#include <vector>

#include "isomer/engine/onednn/lease.h"

namespace isomer::onednn {

class PartialRun {
 public:
  /// Keeps references to both. `inputs` must have the planned types.
  PartialRun(PlanState& plan, std::span<const Tensor> inputs);

  /// Runs kernels until at least so many microseconds have passed, or to the end, and returns whether that is reached.
  /// A plan on several streams does not pause. Must not be called after the end or an Error.
  Result<bool> part(double us);
  /// Returns the outputs; after the end.
  const std::vector<Tensor>& outputs() const { return outputs_; }

 private:
  PlanState& plan_;
  const std::span<const Tensor> inputs_;
  std::vector<Tensor> outputs_;
  const Lease workspace_;
  size_t next_ = 0;  // kernel
};

}  // namespace isomer::onednn
