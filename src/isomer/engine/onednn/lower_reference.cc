// Operators that oneDNN lacks: they run by the reference executor's kernels.

#include <algorithm>
#include <cstring>
#include <functional>

#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/workspace.h"
#include "isomer/eval/executor.h"

namespace isomer::onednn {
namespace {

struct Operand {
  bool present = false;
  bool boxed = false;
  Location at;
  DType dtype = DType::Undefined;
  std::vector<int64_t> dims;
};

Tensor tensor_of(const Operand& operand, Workspace& workspace) {
  if (!operand.present) return {};
  if (operand.boxed) return workspace.box(operand.at);
  const size_t bytes = Tensor::byte_size(operand.dtype, operand.dims);
  return Tensor::view(operand.dtype, operand.dims, {workspace.address(operand.at), bytes}, nullptr);
}

struct Outcome {
  bool boxed = false;
  Location at;
  TensorType type;
};

/// Returns a tensor with its own elements if `made` may be a view of an operand whose memory is reused.
Tensor kept(Tensor made, std::span<const Operand> operands, std::span<const Tensor> tensors) {
  if (made.empty() || made.dtype() == DType::String || made.bytes().empty()) return made;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].present || operands[i].boxed || operands[i].dtype == DType::String) continue;
    const auto bytes = tensors[i].bytes();
    const std::byte* const begin = made.bytes().data();
    if (std::less<>()(begin, bytes.data()) || !std::less<>()(begin, bytes.data() + bytes.size())) continue;
    Tensor own = Tensor::zeros(made.dtype(), made.dims());
    std::ranges::copy(made.bytes(), own.mutable_bytes().begin());
    return own;
  }
  return made;
}

Status store_result(Tensor made, const Outcome& outcome, Workspace& workspace) {
  if (outcome.boxed) {
    workspace.box(outcome.at) = std::move(made);
    return {};
  }
  if (made.type() != outcome.type) return fail("made {} where {} was planned", made.type().str(), outcome.type.str());
  if (!made.bytes().empty()) std::memcpy(workspace.address(outcome.at), made.bytes().data(), made.bytes().size());
  return {};
}

}  // namespace

Result<bool> lower_reference(Builder& builder, NodeId id) {
  const Graph& graph = builder.graph();
  const Node node = graph.node(id);
  Kernel kernel{.name = group_name(graph, {id}), .implementation = "reference"};
  std::vector<Operand> operands;
  for (const ValueId value : graph.operands(node)) {
    Operand operand;
    operand.present = value != kNoValue;
    if (operand.present) {
      operand.boxed = builder.boxed(value);
      operand.at = builder.plain(value);
      operand.dtype = graph.type(value).dtype;
      if (!operand.boxed) operand.dims = *concrete(*graph.type(value).shape);
      kernel.touches.push_back({operand.at.buffer});
    }
    operands.push_back(std::move(operand));
  }
  std::vector<Outcome> outcomes;
  const bool varies = node.is_opaque() || node.op->data_dependent;
  for (uint32_t i = 0; i < node.num_results; ++i) {
    const ValueId value = node.result(i);
    const TensorType& type = graph.type(value);
    Outcome outcome{.boxed = varies || !type.known() || type.dtype == DType::String || !concrete(*type.shape),
                    .at = {},
                    .type = type};
    if (outcome.boxed) {
      outcome.at = builder.box();
    } else if (type.dtype == DType::Float) {
      outcome.at = builder.result(value, plain_desc(dims_of(type)));
    } else {
      outcome.at = builder.room(Tensor::byte_size(type.dtype, *concrete(*type.shape)));
    }
    kernel.touches.push_back({outcome.at.buffer, true});
    kernel.values.push_back(value);
    builder.place(value, outcome.at);
    outcomes.push_back(std::move(outcome));
  }
  kernel.function = [id, operands, outcomes](Workspace& workspace) -> Status {
    std::vector<Tensor> tensors;
    tensors.reserve(operands.size());
    for (const Operand& operand : operands) tensors.push_back(tensor_of(operand, workspace));
    ISOMER_TRY(std::vector<Tensor> results, run_node(workspace.graph(), workspace.graph().node(id), tensors));
    for (size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].boxed) results[i] = kept(std::move(results[i]), operands, tensors);
      ISOMER_CHECK(store_result(std::move(results[i]), outcomes[i], workspace));
    }
    return {};
  };
  builder.emit(std::move(kernel));
  return true;
}

}  // namespace isomer::onednn
