#pragma once
// Recurrent layers that oneDNN cannot compute: those whose weights are computed or fed in each run, as in training, and
// forms that it lacks.

#include "isomer/ir/builder.h"

namespace isomer::onednn {

/// Writes the layer that a node of the builder computes step by step, in ordinary operators. Returns its results; none
/// if oneDNN has the layer, or if only the reference kernel computes it (ops/recurrent_steps.h). Neither are layers of
/// very many steps written, since each step adds kernels to plan.
Result<std::vector<ValueId>> unrolled(GraphBuilder& builder, NodeId id);

}  // namespace isomer::onednn
