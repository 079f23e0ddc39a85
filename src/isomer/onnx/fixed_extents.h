#pragma once
// Models for inputs of known extents.

#include "isomer/onnx/import.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// Fixes extents in the declared types of a model: those of these inputs, and all that are the same symbols. Those that
/// do not fit the declared types are left out.
void fix_extents(onnx::ModelProto& model, ShapeOptions shapes);

}  // namespace isomer
