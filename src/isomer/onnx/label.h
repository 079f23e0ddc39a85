#pragma once
// Labels of a file's nodes in messages.

#include <string>

#include "onnx-ml.pb.h"

namespace isomer {

/// "node 'conv1' (Conv)" with its name, or the name of its first result, or its position ("node #3 (Conv)").
std::string node_label(const onnx::NodeProto& node, int position);

}  // namespace isomer
