#pragma once
// Reading ONNX files.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/model.h"

namespace isomer {

/// The values of `--shape`: extents of inputs, by name, and values of symbols.
struct ShapeOptions {
  std::map<std::string, std::vector<int64_t>> inputs;
  std::map<std::string, int64_t> symbols;
};

struct ImportOptions {
  /// Parameters become graph inputs with their initializers as defaults, so that gradients for them exist and runs may
  /// change them. Two parameters that are equal stay two inputs. Parameters are the initializers that hold real
  /// numbers, have axes, and are operands of nodes, except the statistics of batch normalizations that do not update
  /// them.
  bool parameters_as_inputs = false;
  /// With parameters, initializers of these names that are one real number without axes become inputs, too.
  std::vector<std::string> scalars = {};
  /// With parameters, the statistics of all batch normalizations become inputs.
  bool statistics_as_inputs = false;
  /// Extents that take the place of those in the file, also in the written model.
  ShapeOptions shapes = {};
};

/// Reads a model. External data is mapped into memory instead of read. Unknown operators become opaque nodes. An Error
/// names the file, the node and the reason.
Result<Model> import_model(const std::filesystem::path& path, const ImportOptions& options = {});

/// Reads a serialized ModelProto. External data is read from `folder`. `what` names the model in errors.
Result<Model> import_bytes(std::string_view bytes, const std::filesystem::path& folder, const std::string& what,
                           const ImportOptions& options = {});

}  // namespace isomer
