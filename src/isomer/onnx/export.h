#pragma once
// Writing ONNX files.

#include <filesystem>
#include <string>

#include "isomer/base/result.h"
#include "isomer/onnx/model.h"

namespace isomer {

struct ExportOptions {
  /// Weights go to an external file OUT.HASH.data beside the model when all of them together exceed this.
  uint64_t external_above = uint64_t{1} << 30;
};

/// Writes the model as OutputFile does: at any moment there is the old model or the new one. External data come first,
/// in the folder of `path`, under a name with the hash of their content: no data of another model are overwritten, and
/// those of a model that was replaced stay. A device or pipe gets all weights inside of the model, and an Error where
/// they do not fit.
Status export_model(const Model& model, const std::filesystem::path& path, const ExportOptions& options = {});

/// The serialized ModelProto, weights inside; an Error above 2 GB.
Result<std::string> export_bytes(const Model& model);

/// Whether every node of the graph can be written at the model's opset: an Error names the first that cannot.
Status exportable(const Model& model, const Graph& graph);
/// The same for one node.
Status exportable(const Model& model, const Graph& graph, NodeId node);

}  // namespace isomer
