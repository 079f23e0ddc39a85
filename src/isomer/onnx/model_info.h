#pragma once
// The content of a model in addition to its graph. Only onnx/ uses it.

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isomer/ir/graph.h"
#include "isomer/ir/opaque.h"
#include "isomer/onnx/model.h"
#include "isomer/ops/onnx_form.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// A known node in the form of the model.
struct OriginalForm {
  OnnxForm form;                ///< parameters as constants; operands without values
  std::vector<size_t> sources;  ///< for each operand of the node, its index in the form (NormalForm::sources)
  uint64_t key;                 ///< form_key of the node
};

struct ModelInfo {
  /// Everything except the graph's nodes and the elements of its initializers. These have only their names and doc
  /// strings.
  onnx::ModelProto model;
  /// Version of each imported operator set; the standard domain is "".
  std::map<std::string, int> opsets;
  /// Names of the graph inputs (initializers only if a run can override them) and outputs.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  /// Initializers whose elements may change: those that are also graph inputs, which a run may override, and those that
  /// training_info names.
  std::map<std::string, Tensor> defaults;
  /// Of a model that was read with parameters as inputs: initializers that could be parameters, but have no axes.
  std::vector<std::string> scalars;
  /// Name, doc string, metadata, ... of known nodes by the origin of their first result, without operands and
  /// attributes.
  std::unordered_map<Origin, onnx::NodeProto> nodes;
  /// The forms of known nodes, also by origin, so that nodes that no rewrite changed are written exactly as they were.
  std::unordered_map<Origin, OriginalForm> forms;
  /// Names of the model's constants by content, so that export finds the names of parameters that became attributes.
  std::unordered_map<uint64_t, std::string> constant_names;
  /// The other files that the model's file needs, by the names that it gives them, sorted.
  std::vector<std::string> external_files;
  /// The names of all values, including those in subgraphs.
  std::unordered_set<std::string> names;
};

/// The domain under its usual name: the standard domain has two names.
inline std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

}  // namespace isomer
