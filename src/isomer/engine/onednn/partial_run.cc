#include "isomer/engine/onednn/partial_run.h"

#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {

PartialRun::PartialRun(PlanState& plan, std::span<const Tensor> inputs)
    : plan_(plan), inputs_(inputs), outputs_(empty_outputs(plan.program, &*plan.outputs)), workspace_(plan) {}

Result<bool> PartialRun::part(double us) {
  ISOMER_CHECK(check_threads(plan_.options.most_threads()));
  const ThreadScope threads(plan_.options.threads);
  ISOMER_TRY(next_, workspace_->run_from(next_, us, inputs_, outputs_));
  return next_ == plan_.program.kernels.size();
}

}  // namespace isomer::onednn
