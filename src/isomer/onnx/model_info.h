#pragma once
// What a model says beside its graph. Only onnx/ knows it.

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isomer/ir/graph.h"
#include "isomer/onnx/model.h"
#include "onnx-ml.pb.h"

namespace isomer {

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
  /// Names of the model's constants by content, so that parameters that became attributes find theirs again.
  std::unordered_map<uint64_t, std::string> constant_names;
  /// The other files that the file that the model was read from needs, by the names that it gives them, sorted.
  std::vector<std::string> external_files;
  /// Every name of a value, also inside of subgraphs.
  std::unordered_set<std::string> names;
};

/// The standard domain has two names.
inline std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

/// `@op_type` and `@domain` of the opaque node that stands for a sparse initializer; its `@node` is a
/// SparseTensorProto.
inline constexpr const char* kSparseInitializer = "SparseInitializer";
/// Likewise for an initializer that training_info names, so that no rewrite takes it for a constant; its `@node` is the
/// name, its elements are in ModelInfo::defaults.
inline constexpr const char* kTrainedInitializer = "TrainedInitializer";
inline constexpr const char* kOwnDomain = "isomer";

/// Whether an opaque node is one of those two.
inline bool is_own(const Node& node, const char* op_type) {
  return node.attrs.text("@op_type") == op_type && node.attrs.text("@domain") == kOwnDomain;
}

}  // namespace isomer
