#pragma once
// Writing a draft as one protobuf message, weights straight from where they lie.

#include "isomer/base/output_file.h"
#include "isomer/base/result.h"
#include "isomer/onnx/draft.h"

namespace isomer {

/// Writes the ModelProto. Weights whose header says that they are external are not written. Fails above 2 GB.
Status write_model(const Draft& draft, Sink& sink);

}  // namespace isomer
