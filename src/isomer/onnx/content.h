#pragma once
// What decides a model's outputs beside its graph, in a form that can be compared.

#include <filesystem>
#include <string>
#include <vector>

#include "isomer/base/file_uses.h"
#include "isomer/onnx/model.h"

namespace isomer {

/// The ONNX node that an opaque node stands for, serialized, without its name and the names of its operands and
/// results.
std::string opaque_content(const Node& node);

/// The bodies of the model's functions, and the elements of initializers that are inputs, too.
std::string functions_and_defaults(const Model& model);

/// The files that a model read from a file keeps weights in, by the names that it gives them, sorted.
std::vector<std::string> external_files(const Model& model);

/// Adds the files with weights of a model that was read from `path` to the files that a command reads.
void declare_external_files(const std::filesystem::path& path, const Model& model, FileUses& uses);

}  // namespace isomer
