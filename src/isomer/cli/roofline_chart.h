#pragma once
// The roofline plot of a model (Williams et al. 2009): which of its kernels arithmetic limits, which memory, and how
// far they are from that limit.

#include <span>
#include <string>

#include "isomer/cost/kernel_cost.h"
#include "isomer/engine/onednn/processor_peak.h"
#include "isomer/repro/picture.h"

namespace isomer {

/// Returns the speed of kernels by their FLOPs per byte, and the limits. Kernels of one operator are a series; kernels
/// without FLOPs are left out.
Chart roofline_chart(const std::string& model, std::span<const KernelShare> kernels, const ProcessorPeak& peak);

}  // namespace isomer
