#pragma once
// Reading ONNX files.

#include <filesystem>
#include <string_view>

#include "isomer/base/result.h"
#include "isomer/onnx/model.h"

namespace isomer {

/// Reads a model. External data is mapped, not read. What Isomer does not know becomes opaque nodes. An Error names the
/// file, the node and the reason.
Result<Model> import_model(const std::filesystem::path& path);

/// Reads a serialized ModelProto; external data is looked up in `folder`. `what` names it in errors.
Result<Model> import_bytes(std::string_view bytes, const std::filesystem::path& folder, const std::string& what);

}  // namespace isomer
