#pragma once
// Times one kernel of the own runtime as it runs within a model.

#include <memory>

#include "isomer/base/result.h"
#include "isomer/engine/calm.h"
#include "isomer/engine/kernels.h"
#include "isomer/runtime/onednn/plan.h"

namespace isomer {

/// Runs a plan of the kernel alone, its operands made in the layout in which they arrive by other kernels, which do not
/// count; nor do changes of layout, unless the kernel is one. Its weights come from where
/// `run.weights` says. `calm` decides what is measured again.
Result<KernelTime> time_on_plan(const KernelRun& run, const onednn::PlanOptions& options,
                                const std::shared_ptr<onednn::Tuner>& tuner, Calm& calm);

}  // namespace isomer
