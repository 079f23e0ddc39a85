#include "isomer/engine/loaded_model.h"

#include <algorithm>

#include "isomer/base/printable.h"
#include "isomer/engine/inputs.h"
#include "isomer/onnx/import.h"

namespace isomer {

Result<std::unique_ptr<LoadedModel>> LoadedModel::load(const std::filesystem::path& onnx, const std::string& engine,
                                                       const EngineOptions& options) {
  std::unique_ptr<LoadedModel> loaded(new LoadedModel);
  {
    // Only the names and types are kept: the engine has its own graph.
    ISOMER_TRY(const Model model, import_model(onnx));
    const Graph& graph = model.graph;
    for (size_t i = 0; i < graph.inputs().size(); ++i)
      loaded->inputs_.push_back(
          {input_name(model, i), graph.type(graph.inputs()[i]), input_default(model, i) != nullptr});
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      loaded->outputs_.push_back({output_name(model, i), graph.type(graph.outputs()[i])});
  }
  ISOMER_TRY(loaded->engine_, make_engine(engine, options));
  ISOMER_TRY(loaded->session_, loaded->engine_->load(onnx));
  return loaded;
}

Status LoadedModel::check(std::span<const NamedTensor> tensors) const {
  std::vector<TensorType> declared;
  for (const auto& [name, tensor] : tensors) {
    const auto input = std::ranges::find(inputs_, name, &DeclaredValue::name);
    if (input == inputs_.end()) {
      std::vector<std::string> names;
      for (const DeclaredValue& each : inputs_) names.push_back(printable(each.name));
      return fail("no input '{}'; there are: {}", printable(name), fmt::join(names, ", "));
    }
    declared.push_back(input->type);
  }
  for (const DeclaredValue& input : inputs_)
    if (!input.has_default && std::ranges::find(tensors, input.name, &NamedTensor::first) == tensors.end())
      return fail("input '{}' is not given", printable(input.name));
  return check_inputs(tensors, declared);
}

Result<std::vector<Tensor>> LoadedModel::run(std::span<const NamedTensor> tensors) const {
  return engine_->run(session_, tensors);
}

}  // namespace isomer
