#pragma once
// Tensors in files of their own, as ONNX's test data has them.

#include <filesystem>

#include "isomer/base/result.h"
#include "isomer/ir/tensor.h"

namespace isomer {

/// Reads a serialized TensorProto. Fails, naming the file, when it cannot be read or is no dense tensor.
Result<Tensor> tensor_from_pb_file(const std::filesystem::path& path);

}  // namespace isomer
