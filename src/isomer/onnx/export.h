#pragma once
// Writing ONNX files.

#include <filesystem>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/model.h"

namespace isomer {

struct ExportOptions {
  /// If the total size of the weights exceeds this, they are written to an external file OUT.HASH.data next to the
  /// model.
  uint64_t external_above = uint64_t{1} << 30;
};

/// Writes the model in the same way as OutputFile, so the file is always either the old or the new model. External data
/// is written first, to the folder of `path`, under a name with the hash of its content. So data of other models is
/// never overwritten, and data of a replaced model stays. For a device or pipe, all weights are written into the model;
/// this fails if they do not fit.
Status export_model(const Model& model, const std::filesystem::path& path, const ExportOptions& options = {});

/// The serialized ModelProto including weights. Fails above 2 GB.
Result<std::string> export_bytes(const Model& model);

/// Returns the names of the graph's values in the file, by value. A value may have further names there. An Error if the
/// model cannot be written.
Result<std::vector<std::string>> export_names(const Model& model);

/// Succeeds if every node of the graph can be written at the model's opset. An Error names the first node that cannot.
Status exportable(const Model& model, const Graph& graph);
/// The same for one node.
Status exportable(const Model& model, const Graph& graph, NodeId node);

}  // namespace isomer
