#pragma once
// A model on its way out: the protobuf messages, and the weights beside them, not copied.

#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/model.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// An initializer: all but its elements, which the tensor holds (strings stand in the header).
struct Weight {
  onnx::TensorProto header;
  Tensor tensor;
};

struct Draft {
  onnx::ModelProto model;  // its graph has no initializers
  std::vector<Weight> weights;
};

/// Writes every node at the model's opset. An Error names the node that cannot be written.
Result<Draft> make_draft(const Model& model);

}  // namespace isomer
