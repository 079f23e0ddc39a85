#pragma once
// A model during export: the protobuf messages, and separately the weights, which are not copied.

#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/model.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// An initializer. The header has everything except the elements, which are in the tensor (strings are in the header).
struct Weight {
  onnx::TensorProto header;
  Tensor tensor;
};

struct Draft {
  onnx::ModelProto model;  // without initializers
  std::vector<Weight> weights;
};

/// Writes every node at the model's opset. An Error names the node for which this is not possible.
Result<Draft> make_draft(const Model& model);

}  // namespace isomer
