#pragma once
// What a model says beside its graph. Only onnx/ knows it.

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

/// A known node as the model wrote it.
struct OriginalForm {
  OnnxForm form;                ///< its parameters as constants, its operands without values
  std::vector<size_t> sources;  ///< by operand of the node, its place in the form (NormalForm::sources)
  uint64_t key;                 ///< form_key of the node
};

struct ModelInfo {
  /// Everything but the graph's nodes and the elements of its initializers; those stand by name and doc string alone.
  onnx::ModelProto model;
  /// Version of each imported operator set; the standard domain is "".
  std::map<std::string, int> opsets;
  /// Names of the graph inputs (initializers are none, unless they can be overridden) and outputs.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  /// Initializers whose elements may change: graph inputs too, which a run may override, or training_info names them.
  std::map<std::string, Tensor> defaults;
  /// Name, doc string, metadata, ... of known nodes by the origin of their first result; no operands, no attributes.
  std::unordered_map<Origin, onnx::NodeProto> nodes;
  /// Likewise their forms, so that a node that no rewrite changed is written as it was.
  std::unordered_map<Origin, OriginalForm> forms;
  /// Names of the model's constants by content, so that parameters that became attributes find theirs again.
  std::unordered_map<uint64_t, std::string> constant_names;
  /// The other files that the file that the model was read from needs, by the names that it gives them, sorted.
  std::vector<std::string> external_files;
  /// Every name of a value, also inside of subgraphs.
  std::unordered_set<std::string> names;
};

/// The standard domain has two names.
inline std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

}  // namespace isomer
