#include "isomer/onnx/names.h"

#include "isomer/base/printable.h"
#include "isomer/onnx/subgraphs.h"

namespace isomer {

ExportNames::ExportNames(const Graph& graph, const ModelInfo& info) : names_(graph.num_values()), info_(&info) {
  const auto& table = graph.name_table()->names;
  graph_names_.insert(table.begin(), table.end());
}

const std::vector<std::string>& ExportNames::aliases(ValueId value) const {
  static const std::vector<std::string> kNone;
  const auto at = aliases_.find(value);
  return at == aliases_.end() ? kNone : at->second;
}

const std::map<std::string, std::string>& ExportNames::renamed_captures(NodeId node) const {
  static const std::map<std::string, std::string> kNone;
  const auto at = renamed_.find(node);
  return at == renamed_.end() ? kNone : at->second;
}

std::string ExportNames::fresh(const std::string& wish) {
  size_t& counter = counters_[wish];
  for (;;) {
    std::string name = fmt::format("{}_{}", wish, counter++);
    if (!info_->names.contains(name) && !graph_names_.contains(name) && take(name)) return name;
  }
}

bool ExportNames::require(ValueId value, const std::string& name) {
  const auto [owner, is_new] = owners_.emplace(name, value);
  if (!is_new) return owner->second == value;
  if (names_[value].empty())
    names_[value] = name;
  else
    aliases_[value].push_back(name);
  return true;
}

/// Initializers come first: an initializer can have an alias, but cannot be one.
void ExportNames::require_trained(const Graph& graph) {
  for (const Node& node : graph.nodes())
    if (node.is_opaque() && is_own(node, kTrainedInitializer)) require(node.result(), node.attrs.text("@node"));
}

Status ExportNames::require_interface(const Graph& graph, const ModelInfo& info) {
  if (graph.inputs().size() != info.inputs.size() || graph.outputs().size() != info.outputs.size())
    return fail("the graph has {} inputs and {} outputs, but the model has {} and {}", graph.inputs().size(),
                graph.outputs().size(), info.inputs.size(), info.outputs.size());
  for (size_t i = 0; i < info.inputs.size(); ++i)
    if (!require(graph.inputs()[i], info.inputs[i]))
      return fail("two inputs are named '{}'", printable(info.inputs[i]));
  for (size_t i = 0; i < info.outputs.size(); ++i)
    if (!require(graph.outputs()[i], info.outputs[i]))
      return fail("the output '{}' is another value than the input or output of this name", printable(info.outputs[i]));
  return {};
}

void ExportNames::require_captures(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.is_opaque() || node.attrs.integer("@captures") == 0) return;
  onnx::NodeProto proto;
  if (!proto.ParseFromString(node.attrs.text("@node"))) return;
  const auto captures = captured_names(proto);
  const auto operands = graph.operands(node);
  const size_t first = operands.size() - std::min(operands.size(), captures.size());
  for (size_t i = 0; first + i < operands.size(); ++i) {
    const ValueId value = operands[first + i];
    if (require(value, captures[i])) continue;
    // After a rewrite, another value has this name. The alias needs a new name that no subgraph defines.
    const std::string alias = fresh("captured");
    owners_[alias] = value;
    if (names_[value].empty())
      names_[value] = alias;
    else
      aliases_[value].push_back(alias);
    renamed_[id][captures[i]] = alias;
  }
}

Result<ExportNames> ExportNames::assign(const Graph& graph, const ModelInfo& info) {
  ExportNames names(graph, info);
  names.require_trained(graph);
  ISOMER_CHECK(names.require_interface(graph, info));
  for (const auto& [name, tensor] : info.defaults) names.take(name);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) names.require_captures(graph, id);
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (names.names_[value].empty() && !graph.name(value).empty() && !names.taken(graph.name(value)))
      names.require(value, graph.name(value));
  for (ValueId value = 0; value < graph.num_values(); ++value) {
    if (!names.names_[value].empty()) continue;
    const Node& node = graph.producer_node(value);
    names.names_[value] = names.fresh(node.is_opaque() ? node.attrs.text("@op_type") : node.op->name);
    names.owners_[names.names_[value]] = value;
  }
  return names;
}

}  // namespace isomer
