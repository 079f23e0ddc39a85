#pragma once
// The parts of a model that determine its outputs in addition to its graph, in a comparable form.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "isomer/base/file_uses.h"
#include "isomer/onnx/model.h"

namespace isomer {

/// The serialized ONNX node of an opaque node, without its name and the names of its operands and results.
std::string opaque_content(const Node& node);

/// The content of each function of the model, by "domain:name", or "domain:name:overload" if it has one.
std::map<std::string, std::string> functions_by_name(const Model& model);

/// Returns whether two models have equal functions in the same order, and the same initializers that are also inputs,
/// with equal elements.
bool same_functions_and_defaults(const Model& a, const Model& b);

/// The files that contain weights of an imported model, by the names that the model gives them, sorted.
std::vector<std::string> external_files(const Model& model);

/// Adds the files with weights of a model that was read from `path` to the files that a command reads.
void declare_external_files(const std::filesystem::path& path, const Model& model, FileUses& uses);

}  // namespace isomer
