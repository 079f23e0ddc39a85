#pragma once
// Times one kernel of the built-in runtime as it runs within a model.

#include <memory>

#include "isomer/base/result.h"
#include "isomer/engine/kernels.h"
#include "isomer/engine/noise_filter.h"
#include "isomer/engine/onednn/far_memory.h"
#include "isomer/engine/onednn/plan.h"

namespace isomer {

/// Runs a plan of only this kernel. Other kernels make its operands in the layouts in which they arrive. These do not
/// count, nor do changes of layout, unless the kernel is one. The distance of its weights is `run.weights`.
/// `noise_filter` decides which measurements are repeated; `far` lends the weights.
Result<KernelTime> time_on_plan(const KernelRun& run, const onednn::PlanOptions& options,
                                const std::shared_ptr<onednn::Tuner>& tuner, NoiseFilter& noise_filter,
                                onednn::FarMemory& far);

}  // namespace isomer
