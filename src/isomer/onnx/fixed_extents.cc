#include "isomer/onnx/fixed_extents.h"

#include "isomer/onnx/value_types.h"

namespace isomer {

void fix_extents(onnx::ModelProto& model, ShapeOptions shapes) {
  if (shapes.inputs.empty() && shapes.symbols.empty()) return;
  onnx::GraphProto& graph = *model.mutable_graph();
  TypeReader types;
  const auto declared = {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()};
  for (const auto* values : declared)
    for (const auto& value : *values) types.reserve(value.type());
  for (auto& input : *graph.mutable_input()) {
    const auto given = shapes.inputs.find(input.name());
    if (given == shapes.inputs.end() || !input.type().tensor_type().has_shape()) continue;
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    if (static_cast<size_t>(shape.dim_size()) != given->second.size()) continue;
    for (int i = 0; i < shape.dim_size(); ++i) {
      auto& dim = *shape.mutable_dim(i);
      if (dim.dim_value() > 0) continue;
      if (!dim.dim_param().empty())
        shapes.symbols.emplace(types.symbol_of(dim.dim_param()), given->second[static_cast<size_t>(i)]);
      dim.set_dim_value(given->second[static_cast<size_t>(i)]);
    }
  }
  for (auto* const values : declared)
    for (auto& value : *values) {
      if (!value.type().tensor_type().has_shape()) continue;
      for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
        if (dim.dim_param().empty()) continue;
        const auto known = shapes.symbols.find(types.symbol_of(dim.dim_param()));
        if (known != shapes.symbols.end()) dim.set_dim_value(known->second);
      }
    }
}

}  // namespace isomer
