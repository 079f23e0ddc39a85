#pragma once
// Predicts the memory that activations take while an engine's kernels run, without a plan of the engine.

#include <span>

#include "isomer/engine/kernels.h"

namespace isomer {

/// Returns the maximum number of bytes of activations that are live at the same time when kernels run in the order of
/// their last nodes. Values within a kernel take no memory. Nodes in no kernel are views of their first operand, or
/// concatenations whose operands are computed in place. An element-wise kernel overwrites an operand of equal size that
/// has no later reader. Outputs are live to the end. Inputs belong to the caller and are live to the end too; a copy in
/// another layout is added. Inputs of a `part` of a larger graph are like any other value. `bytes` is indexed by value,
/// for row-major order. Scratch memory and gaps between values are not counted.
double live_bytes(const Graph& graph, const KernelPlan& plan, std::span<const double> bytes, bool part);

/// What is live when the most is live.
struct LivePeak {
  double bytes = 0;
  NodeId last = 0;                   ///< the last node of the kernel that runs then; the number of nodes: the end
  std::vector<ValueId> home = {};    ///< by value: the value whose memory it is in; kNoValue if it has none
  std::vector<double> waiting = {};  ///< by home: its bytes if it is live, but not used by that kernel; else 0
};
/// The same maximum, with what it consists of.
LivePeak live_peak(const Graph& graph, const KernelPlan& plan, std::span<const double> bytes);

}  // namespace isomer
