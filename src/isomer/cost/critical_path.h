#pragma once
// The longest path through an engine's kernels: how long a graph takes if it has all the cores that it can use.

#include <span>

#include "isomer/engine/kernels.h"

namespace isomer {

/// Returns the largest sum of latencies of kernels of which each reads what the one before it makes (AutoGraph: Zhao et
/// al., AAAI 2023, equation 1). `us` has the latency of each kernel of the plan, and then of each of its reorders, for
/// which all readers of the value wait.
double critical_path_us(const Graph& graph, const KernelPlan& plan, std::span<const double> us);

}  // namespace isomer
