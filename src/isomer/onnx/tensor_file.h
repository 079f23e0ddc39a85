#pragma once
// Files that contain a single tensor, as in ONNX's test data.

#include <filesystem>

#include "isomer/base/result.h"
#include "isomer/ir/tensor.h"

namespace isomer {

/// Reads a serialized TensorProto. Fails with the file's name if it cannot be read or is not a dense tensor.
Result<Tensor> tensor_from_pb_file(const std::filesystem::path& path);

}  // namespace isomer
