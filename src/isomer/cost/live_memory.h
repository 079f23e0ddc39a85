#pragma once
// The memory that activations take while an engine's kernels run, foreseen without a plan of the engine's own.

#include <span>

#include "isomer/engine/kernels.h"

namespace isomer {

/// The most bytes of activations that live at the same time when kernels run in the order of their last nodes. What
/// stays within a kernel takes nothing. Nodes in no kernel are views of their first operand, or concatenations whose
/// operands are made in their places. An element-wise kernel writes over an operand of equal size that nobody reads
/// later. Outputs stay to the end. Inputs are the caller's: they stay, too, and a copy in another layout comes on top;
/// those of a `part` of a larger graph are like any other value. `bytes` is by value, in row-major order. Scratch
/// memory and gaps between values are left out.
double live_bytes(const Graph& graph, const KernelPlan& plan, std::span<const double> bytes, bool part);

}  // namespace isomer
