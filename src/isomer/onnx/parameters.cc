#include "isomer/onnx/parameters.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "isomer/onnx/model_info.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// The first IR version in which an initializer need not be an input.
constexpr int kInitializersApart = 4;

int standard_opset(const onnx::ModelProto& model) {
  for (const auto& import : model.opset_import())
    if (normal_domain(import.domain()).empty()) return static_cast<int>(import.version());
  return 1;
}

bool holds_reals(const onnx::TensorProto& tensor) {
  const auto dtype = dtype_from_onnx(tensor.data_type());
  return dtype && is_real(*dtype);
}

/// Whether a batch normalization uses the statistics of the batch.
bool is_in_training_form(const onnx::NodeProto& node) {
  return std::ranges::any_of(node.attribute(), [](const auto& attribute) {
    return attribute.name() == "training_mode" && attribute.i() != 0;
  });
}

/// Whether a node's operand must stay constant: it describes the operator, or is a running statistic that the operator
/// does not update.
bool is_setting(const onnx::NodeProto& node, int operand, int opset, bool statistics) {
  const OpDef* op = find_op(node.op_type(), normal_domain(node.domain()));
  if (op == nullptr) return false;
  const auto describes = [&](const ParamOperand& param) {
    return param.index == static_cast<size_t>(operand) && opset >= param.since;
  };
  return std::ranges::any_of(op->params, describes) ||
         (op->name == "BatchNormalization" && operand >= 3 && !statistics && !is_in_training_form(node));
}

struct Parameters {
  std::unordered_set<std::string> names;
  std::vector<std::string> other_scalars;
};

Parameters parameters_of(const onnx::ModelProto& model, std::span<const std::string> scalars, bool statistics) {
  std::unordered_set<std::string> used;
  std::unordered_set<std::string> settings;
  for (const auto& node : model.graph().node())
    for (int i = 0; i < node.input_size(); ++i)
      (is_setting(node, i, standard_opset(model), statistics) ? settings : used).insert(node.input(i));
  Parameters out;
  for (const auto& tensor : model.graph().initializer()) {
    if (!holds_reals(tensor) || !used.contains(tensor.name()) || settings.contains(tensor.name())) continue;
    if (tensor.dims_size() > 0 || std::ranges::find(scalars, tensor.name()) != scalars.end())
      out.names.insert(tensor.name());
    else
      out.other_scalars.push_back(tensor.name());
  }
  return out;
}

void add_input(onnx::GraphProto& graph, const onnx::TensorProto& tensor) {
  auto* input = graph.add_input();
  input->set_name(tensor.name());
  auto* type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(tensor.data_type());
  type->mutable_shape();
  for (const int64_t extent : tensor.dims()) type->mutable_shape()->add_dim()->set_dim_value(extent);
}

}  // namespace

std::vector<std::string> list_parameters(onnx::ModelProto& model, std::span<const std::string> scalars,
                                         bool statistics) {
  onnx::GraphProto& graph = *model.mutable_graph();
  auto [names, other_scalars] = parameters_of(model, scalars, statistics);
  if (model.ir_version() < kInitializersApart) {
    std::unordered_set<std::string> constants;
    for (const auto& tensor : graph.initializer())
      if (!names.contains(tensor.name())) constants.insert(tensor.name());
    auto& inputs = *graph.mutable_input();
    inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                                [&](const auto& input) { return constants.contains(input.name()); }),
                 inputs.end());
    model.set_ir_version(kInitializersApart);
  }
  std::unordered_set<std::string> listed;
  for (const auto& input : graph.input()) listed.insert(input.name());
  for (const auto& tensor : graph.initializer())
    if (names.contains(tensor.name()) && !listed.contains(tensor.name())) add_input(graph, tensor);
  std::erase_if(other_scalars, [&](const std::string& name) { return listed.contains(name); });  // inputs anyway
  return other_scalars;
}

}  // namespace isomer
