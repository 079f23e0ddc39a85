#include "isomer/onnx/subgraphs.h"

#include "isomer/base/printable.h"
#include "isomer/onnx/proto_tensor.h"

namespace isomer {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;

/// Calls f(graph) for each subgraph in a node's attributes.
template <class F>
void for_each_subgraph(const NodeProto& node, F f) {
  for (const AttributeProto& attr : node.attribute()) {
    if (attr.has_g()) f(attr.g());
    for (const GraphProto& graph : attr.graphs()) f(graph);
  }
}
template <class F>
void for_each_subgraph(NodeProto& node, F f) {
  for (AttributeProto& attr : *node.mutable_attribute()) {
    if (attr.has_g()) f(*attr.mutable_g());
    for (GraphProto& graph : *attr.mutable_graphs()) f(graph);
  }
}

/// The names that a graph defines itself.
std::unordered_set<std::string> defined_names(const GraphProto& graph) {
  std::unordered_set<std::string> names;
  for (const auto& input : graph.input()) names.insert(input.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) names.insert(tensor.values().name());
  for (const auto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
  return names;
}

/// Visits the uses of names that are defined neither in their graph nor in an enclosing graph, up to the root of the
/// walk.
class CaptureWalk {
 public:
  void node(const NodeProto& node) {
    for_each_subgraph(node, [this](const GraphProto& graph) { this->graph(graph); });
  }
  void graph(const GraphProto& graph) {
    scopes_.push_back(defined_names(graph));
    for (const NodeProto& node : graph.node()) {
      for (const std::string& input : node.input()) use(input);
      this->node(node);
    }
    for (const auto& output : graph.output()) use(output.name());
    scopes_.pop_back();
  }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  void use(const std::string& name) {
    if (name.empty()) return;
    for (const auto& scope : scopes_)
      if (scope.contains(name)) return;
    if (seen_.insert(name).second) found_.push_back(name);
  }

  std::vector<std::unordered_set<std::string>> scopes_;
  std::unordered_set<std::string> seen_;
  std::vector<std::string> found_;
};

void rename(std::string& name, const std::map<std::string, std::string>& names) {
  if (const auto at = names.find(name); at != names.end()) name = at->second;
}

void rename_uses(GraphProto& graph, std::map<std::string, std::string> names) {
  for (const std::string& own : defined_names(graph)) names.erase(own);
  if (names.empty()) return;
  for (NodeProto& node : *graph.mutable_node()) {
    for (std::string& input : *node.mutable_input()) rename(input, names);
    for_each_subgraph(node, [&](GraphProto& inner) { rename_uses(inner, names); });
  }
  for (auto& output : *graph.mutable_output()) rename(*output.mutable_name(), names);
}

Status embed_tensor(onnx::TensorProto& tensor, ExternalData& external) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return {};
  const std::string where = fmt::format("tensor '{}'", printable(tensor.name()));
  ISOMER_TRY(const Tensor data, in_context(where, read_tensor(tensor, external)));
  ISOMER_CHECK(external.allow_copy(data.bytes().size()));
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(data.bytes().data(), data.bytes().size());
  return {};
}

Status embed_sparse(onnx::SparseTensorProto& sparse, ExternalData& external) {
  if (sparse.has_values()) ISOMER_CHECK(embed_tensor(*sparse.mutable_values(), external));
  if (sparse.has_indices()) ISOMER_CHECK(embed_tensor(*sparse.mutable_indices(), external));
  return {};
}

Status embed_attr(AttributeProto& attr, ExternalData& external) {
  if (attr.has_t()) ISOMER_CHECK(embed_tensor(*attr.mutable_t(), external));
  for (auto& tensor : *attr.mutable_tensors()) ISOMER_CHECK(embed_tensor(tensor, external));
  if (attr.has_sparse_tensor()) ISOMER_CHECK(embed_sparse(*attr.mutable_sparse_tensor(), external));
  for (auto& sparse : *attr.mutable_sparse_tensors()) ISOMER_CHECK(embed_sparse(sparse, external));
  if (attr.has_g()) ISOMER_CHECK(embed_external(*attr.mutable_g(), external));
  for (auto& graph : *attr.mutable_graphs()) ISOMER_CHECK(embed_external(graph, external));
  return {};
}

}  // namespace

bool has_subgraph(const NodeProto& node) {
  bool found = false;
  for_each_subgraph(node, [&](const GraphProto&) { found = true; });
  return found;
}

std::vector<std::string> captured_names(const NodeProto& node) {
  CaptureWalk walk;
  walk.node(node);
  return walk.take();
}

std::vector<std::string> trained_names(const onnx::TrainingInfoProto& training) {
  CaptureWalk walk;
  walk.graph(training.initialization());
  walk.graph(training.algorithm());
  std::vector<std::string> names = walk.take();
  for (const auto& binding : training.initialization_binding()) names.push_back(binding.key());
  for (const auto& binding : training.update_binding()) names.push_back(binding.key());
  return names;
}

std::vector<std::string> annotated_names(const GraphProto& graph) {
  std::unordered_set<std::string> read;
  for (const NodeProto& node : graph.node()) {
    read.insert(node.input().begin(), node.input().end());
    for (std::string& name : captured_names(node)) read.insert(std::move(name));
  }
  std::vector<std::string> names;
  for (const auto& annotation : graph.quantization_annotation())
    for (const auto& parameter : annotation.quant_parameter_tensor_names())
      if (!read.contains(parameter.value())) names.push_back(parameter.value());
  return names;
}

void rename_captures(NodeProto& node, const std::map<std::string, std::string>& names) {
  for_each_subgraph(node, [&](GraphProto& graph) { rename_uses(graph, names); });
}

void collect_names(const GraphProto& graph, std::unordered_set<std::string>& names) {
  names.merge(defined_names(graph));
  for (const auto& info : graph.value_info()) names.insert(info.name());
  for (const auto& output : graph.output()) names.insert(output.name());
  for (const NodeProto& node : graph.node()) {
    names.insert(node.input().begin(), node.input().end());
    for_each_subgraph(node, [&](const GraphProto& inner) { collect_names(inner, names); });
  }
}

Status embed_external(NodeProto& node, ExternalData& external) {
  for (AttributeProto& attr : *node.mutable_attribute())
    if (auto status = embed_attr(attr, external); !status)
      return fail_in(fmt::format("attribute '{}'", printable(attr.name())), status.error());
  return {};
}

Status embed_external(GraphProto& graph, ExternalData& external) {
  for (auto& tensor : *graph.mutable_initializer()) ISOMER_CHECK(embed_tensor(tensor, external));
  for (auto& sparse : *graph.mutable_sparse_initializer()) ISOMER_CHECK(embed_sparse(sparse, external));
  for (NodeProto& node : *graph.mutable_node()) ISOMER_CHECK(embed_external(node, external));
  return {};
}

}  // namespace isomer
