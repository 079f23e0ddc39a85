#pragma once
// Recurrent layers that oneDNN cannot compute: those whose weights are computed or fed in each run, as in training, and
// forms that it lacks.

#include "isomer/ir/builder.h"

namespace isomer::onednn {

/// Writes the layer that a node of the builder computes step by step, in ordinary operators. Returns its results; none
/// if oneDNN has the layer, or if only the reference kernel computes it: what written_steps() refuses, and layers of so
/// many steps (more than 2048) that it would take seconds to plan their kernels.
Result<std::vector<ValueId>> unrolled(GraphBuilder& builder, NodeId id);

}  // namespace isomer::onednn
