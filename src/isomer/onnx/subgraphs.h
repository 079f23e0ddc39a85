#pragma once
// What lies inside of nodes: the graphs among their attributes and the names that these share with the graph around
// them.

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/external_data.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// Whether a node has graphs among its attributes.
bool has_subgraph(const onnx::NodeProto& node);

/// The names of outer values that the node's subgraphs use, each once, in the order of their first use.
std::vector<std::string> captured_names(const onnx::NodeProto& node);

/// The names of the model's values that a part of its training_info uses or changes.
std::vector<std::string> trained_names(const onnx::TrainingInfoProto& training);

/// Renames captured values inside of the node's subgraphs. No new name may be one that a subgraph defines.
void rename_captures(onnx::NodeProto& node, const std::map<std::string, std::string>& names);

/// Every name of a value anywhere in the graph, subgraphs included.
void collect_names(const onnx::GraphProto& graph, std::unordered_set<std::string>& names);

/// Brings the external data of every tensor inside of the node's attributes into the node, so that the node stands for
/// itself. Fails as reading the tensors would.
Status embed_external(onnx::NodeProto& node, ExternalData& external);
/// Likewise for a whole graph.
Status embed_external(onnx::GraphProto& graph, ExternalData& external);

}  // namespace isomer
