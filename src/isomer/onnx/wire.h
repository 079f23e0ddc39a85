#pragma once
// Writes a draft as one protobuf message. Weights are written directly from their memory.

#include "isomer/base/output_file.h"
#include "isomer/base/result.h"
#include "isomer/onnx/draft.h"

namespace isomer {

/// Writes the ModelProto without the weights whose headers say that they are external. Fails above 2 GB.
Status write_model(const Draft& draft, Sink& sink);

}  // namespace isomer
