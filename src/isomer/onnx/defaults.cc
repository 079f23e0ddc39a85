#include "isomer/onnx/defaults.h"

#include <cassert>

#include "isomer/ir/copy.h"
#include "isomer/onnx/model_info.h"

namespace isomer {
namespace {

/// The graph with those inputs as parameters that have defaults.
Graph with_parameters(const Graph& graph, const ModelInfo& info) {
  GraphBuilder builder(graph.name_table());
  size_t index = 0;
  const auto copies = copy_values(builder, graph, [&](ValueId input) -> Result<ValueId> {
    const bool parameter = info.defaults.contains(info.inputs.at(index++));
    return parameter ? builder.parameter(graph.type(input)) : builder.input(graph.type(input));
  });
  assert(copies.has_value());  // the types are the same
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (graph.origin(value) != kNoOrigin) builder.set_origin((*copies)[value], graph.origin(value));
  std::vector<ValueId> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back((*copies)[output]);
  return builder.finish(outputs);
}

}  // namespace

Model with_defaults(const Model& model, std::span<const Tensor> defaults) {
  auto info = std::make_shared<ModelInfo>(*model.info);
  for (size_t i = 0; i < defaults.size(); ++i) {
    if (defaults[i].empty())
      info->defaults.erase(info->inputs.at(i));
    else
      info->defaults.insert_or_assign(info->inputs.at(i), defaults[i]);
  }
  return {with_parameters(model.graph, *info), std::move(info)};
}

std::vector<std::string> untrained_scalars(const Model& model) { return model.info->scalars; }

}  // namespace isomer
