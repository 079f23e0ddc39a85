#pragma once
// Opaque nodes that represent initializers instead of nodes of the model.

#include <string_view>

#include "isomer/ir/graph.h"

namespace isomer {

/// `@domain` of these nodes.
inline constexpr const char* kOwnDomain = "isomer";
/// `@op_type` of a sparse initializer; its `@node` is a SparseTensorProto.
inline constexpr const char* kSparseInitializer = "SparseInitializer";
/// `@op_type` of an initializer that training_info names. It is opaque so that rewrites do not treat it as a constant.
/// Its `@node` is the name; its elements are in ModelInfo::defaults.
inline constexpr const char* kTrainedInitializer = "TrainedInitializer";

/// Whether an opaque node is the one of these two kinds that `op_type` names.
inline bool is_own(const Node& node, std::string_view op_type) {
  return node.attrs.text("@op_type") == op_type && node.attrs.text("@domain") == kOwnDomain;
}

}  // namespace isomer
