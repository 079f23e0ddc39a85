#pragma once
// Reading ONNX files.

#include <filesystem>
#include <string_view>

#include "isomer/base/result.h"
#include "isomer/onnx/model.h"

namespace isomer {

/// Reads a model. External data is mapped into memory instead of read. Unknown operators become opaque nodes. An Error
/// names the file, the node and the reason.
Result<Model> import_model(const std::filesystem::path& path);

/// Reads a serialized ModelProto. External data is read from `folder`. `what` names the model in errors.
Result<Model> import_bytes(std::string_view bytes, const std::filesystem::path& folder, const std::string& what);

}  // namespace isomer
