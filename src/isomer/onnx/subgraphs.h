#pragma once
// The subgraphs in the attributes of nodes, and the names that these share with the enclosing graph.

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/external_data.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// Whether a node has subgraphs in its attributes.
bool has_subgraph(const onnx::NodeProto& node);

/// The names of outer values that the node's subgraphs use, without duplicates, in the order of their first use.
std::vector<std::string> captured_names(const onnx::NodeProto& node);

/// The names of the model's values that a part of its training_info uses or changes.
std::vector<std::string> trained_names(const onnx::TrainingInfoProto& training);

/// The names of the initializers that only the graph's quantization annotations name.
std::vector<std::string> annotated_names(const onnx::GraphProto& graph);

/// Renames captured values in the node's subgraphs. A subgraph must not define any of the new names.
void rename_captures(onnx::NodeProto& node, const std::map<std::string, std::string>& names);

/// Adds the names of all values in the graph, including its subgraphs.
void collect_names(const onnx::GraphProto& graph, std::unordered_set<std::string>& names);

/// Copies the external data of all tensors in the node's attributes into the node, so that the node is self-contained.
/// Fails if the tensors cannot be read.
Status embed_external(onnx::NodeProto& node, ExternalData& external);
/// The same for a whole graph.
Status embed_external(onnx::GraphProto& graph, ExternalData& external);

}  // namespace isomer
