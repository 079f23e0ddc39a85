#include "isomer/onnx/model.h"

#include <algorithm>
#include <utility>

#include "isomer/base/printable.h"
#include "isomer/ir/label.h"
#include "isomer/onnx/model_info.h"
#include "isomer/onnx/value_types.h"

namespace isomer {
namespace {

/// The IR version for an opset, at most 10, which every engine supports.
int64_t ir_version_for(int opset) {
  if (opset < 9) return 3;
  if (opset < 10) return 4;
  if (opset < 11) return 5;
  if (opset < 12) return 6;
  if (opset < 15) return 7;
  if (opset < 19) return 8;
  if (opset < 21) return 9;
  return 10;
}

std::string unused(const std::string& wish, const std::unordered_set<std::string>& names) {
  std::string name = wish;
  for (size_t n = 2; names.contains(name); ++n) name = fmt::format("{}_{}", wish, n);
  return name;
}

void describe(onnx::ValueInfoProto* info, const std::string& name, const TensorType& type) {
  info->set_name(name);
  if (type.dtype != DType::Undefined) *info->mutable_type() = type_proto(type);
}

}  // namespace

Model make_model(Graph graph, const std::string& name, int opset) {
  auto info = std::make_shared<ModelInfo>();
  info->model.set_ir_version(ir_version_for(opset));
  info->model.set_producer_name("isomer");
  auto* import = info->model.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  info->opsets[""] = opset;
  onnx::GraphProto& proto = *info->model.mutable_graph();
  proto.set_name(name);
  info->names.insert(graph.name_table()->names.begin(), graph.name_table()->names.end());
  std::unordered_set<std::string> inputs;
  for (const ValueId input : graph.inputs()) {
    const std::string& own = graph.name(input);
    const bool usable = !own.empty() && !inputs.contains(own);
    info->inputs.push_back(usable ? own : unused(fmt::format("input_{}", info->inputs.size()), info->names));
    inputs.insert(info->inputs.back());
    info->names.insert(info->inputs.back());
    describe(proto.add_input(), info->inputs.back(), graph.type(input));
  }
  std::unordered_set<std::string> outputs;
  for (const ValueId output : graph.outputs()) {
    const std::string& own = graph.name(output);
    // An input may be an output under its own name. No other value may have this name.
    const bool usable =
        !own.empty() && !outputs.contains(own) && (!inputs.contains(own) || graph.producer_node(output).is_input());
    info->outputs.push_back(usable ? own : unused(fmt::format("output_{}", info->outputs.size()), info->names));
    outputs.insert(info->outputs.back());
    info->names.insert(info->outputs.back());
    describe(proto.add_output(), info->outputs.back(), graph.type(output));
  }
  return {std::move(graph), std::move(info)};
}

Result<Model> with_more_outputs(const Model& model, Graph graph, std::span<const std::string> names,
                                std::span<const std::string> input_names) {
  auto info = std::make_shared<ModelInfo>(*model.info);
  onnx::GraphProto& proto = *info->model.mutable_graph();
  const auto add = [&](const std::string& name, std::vector<std::string>& known, onnx::ValueInfoProto* entry,
                       std::span<const ValueId> values) -> Status {
    if (!info->names.insert(name).second) return fail("the model already has a value '{}'", printable(name));
    describe(entry, name, graph.type(values[known.size()]));
    known.push_back(name);
    return {};
  };
  for (const std::string& name : names) ISOMER_CHECK(add(name, info->outputs, proto.add_output(), graph.outputs()));
  for (const std::string& name : input_names) ISOMER_CHECK(add(name, info->inputs, proto.add_input(), graph.inputs()));
  return Model{std::move(graph), std::move(info)};
}

Result<Model> at_opset(const Model& model, int opset) {
  const auto& functions = model.info->model.functions();
  if (!functions.empty())
    return fail("the model has a function '{}', which has an opset of its own", printable(functions[0].name()));
  for (NodeId id = 0; id < model.graph.nodes().size(); ++id) {
    const Node& node = model.graph.node(id);
    if (node.is_opaque() && normal_domain(node.attrs.text("@domain")).empty())
      return fail_in(node_label(model.graph, id), Error{"Isomer does not interpret this node"});
  }
  auto info = std::make_shared<ModelInfo>(*model.info);
  info->opsets[""] = opset;
  for (auto& import : *info->model.mutable_opset_import())
    if (normal_domain(import.domain()).empty()) import.set_version(opset);
  info->model.set_ir_version(std::max<int64_t>(info->model.ir_version(), ir_version_for(opset)));
  std::erase_if(info->forms, [](const auto& entry) { return normal_domain(entry.second.form.domain).empty(); });
  return Model{model.graph, std::move(info)};
}

bool has_value(const Model& model, const std::string& name) { return model.info->names.contains(name); }

Result<Model> with_ports(const Model& model, Graph graph, std::span<const Port> inputs, std::span<const Port> outputs) {
  auto info = std::make_shared<ModelInfo>(*model.info);
  onnx::GraphProto& proto = *info->model.mutable_graph();
  const auto replace = [&](std::vector<std::string>& names, auto& entries, std::span<const ValueId> known_values,
                           std::span<const Port> ports, std::span<const ValueId> values) -> Status {
    const std::vector<std::string> known = std::exchange(names, {});
    const auto old = std::exchange(entries, {});
    for (size_t i = 0; i < ports.size(); ++i) {
      const std::string& name = ports[i].name;
      if (std::ranges::find(names, name) != names.end()) return fail("two have the name '{}'", printable(name));
      names.push_back(name);
      const auto at = std::ranges::find(known, name);
      if (at == known.end() && !info->names.insert(name).second)
        return fail("the model already has a value '{}'", printable(name));
      const TensorType& type = graph.type(values[i]);
      const auto described = std::ranges::find(old, name, &onnx::ValueInfoProto::name);
      const bool same = at != known.end() && described != old.end() &&
                        model.graph.type(known_values[static_cast<size_t>(at - known.begin())]) == type;
      if (same)
        *entries.Add() = *described;
      else
        describe(entries.Add(), name, type);
    }
    return {};
  };
  for (const std::string& name : info->inputs) info->defaults.erase(name);
  ISOMER_CHECK(replace(info->inputs, *proto.mutable_input(), model.graph.inputs(), inputs, graph.inputs()));
  ISOMER_CHECK(replace(info->outputs, *proto.mutable_output(), model.graph.outputs(), outputs, graph.outputs()));
  for (const Port& input : inputs)
    if (!input.preset.empty()) info->defaults.insert_or_assign(input.name, input.preset);
  for (const auto& training : info->model.training_info())
    for (const auto* bindings : {&training.initialization_binding(), &training.update_binding()})
      for (const auto& binding : *bindings)
        if (std::ranges::find(model.info->inputs, binding.key()) != model.info->inputs.end() &&
            std::ranges::find(info->inputs, binding.key()) == info->inputs.end())
          return fail("the training information of the model names '{}'", printable(binding.key()));
  return Model{std::move(graph), std::move(info)};
}

int opset_of(const Model& model) {
  const auto at = model.info->opsets.find("");
  return at == model.info->opsets.end() ? 0 : at->second;
}

const std::map<std::string, int>& opset_imports(const Model& model) { return model.info->opsets; }

bool uses_external_data(const Model& model) { return !model.info->external_files.empty(); }

std::optional<std::string> metadata(const Model& model, const std::string& key) {
  for (const auto& entry : model.info->model.metadata_props())
    if (entry.key() == key) return entry.value();
  return std::nullopt;
}

Model with_metadata(const Model& model, const std::string& key, const std::string& text) {
  auto info = std::make_shared<ModelInfo>(*model.info);
  auto& entries = *info->model.mutable_metadata_props();
  const auto gone =
      std::remove_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.key() == key; });
  entries.erase(gone, entries.end());
  if (!text.empty()) {
    auto* entry = entries.Add();
    entry->set_key(key);
    entry->set_value(text);
  }
  return {model.graph, std::move(info)};
}

std::string input_name(const Model& model, size_t i) { return model.info->inputs.at(i); }
std::string output_name(const Model& model, size_t i) { return model.info->outputs.at(i); }

const Tensor* input_default(const Model& model, size_t i) {
  const auto at = model.info->defaults.find(model.info->inputs.at(i));
  return at == model.info->defaults.end() ? nullptr : &at->second;
}

}  // namespace isomer
