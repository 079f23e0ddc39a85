#include "isomer/onnx/defaults.h"

#include "isomer/onnx/model_info.h"

namespace isomer {

Model with_defaults(const Model& model, std::span<const Tensor> defaults) {
  auto info = std::make_shared<ModelInfo>(*model.info);
  for (size_t i = 0; i < defaults.size(); ++i) {
    if (defaults[i].empty())
      info->defaults.erase(info->inputs.at(i));
    else
      info->defaults.insert_or_assign(info->inputs.at(i), defaults[i]);
  }
  return {model.graph, std::move(info)};
}

}  // namespace isomer
