#pragma once
// Nodes of a file in messages.

#include <string>

#include "onnx-ml.pb.h"

namespace isomer {

/// "node 'conv1' (Conv)": by its name, else by that of its first result, else by its position ("node #3 (Conv)").
std::string node_label(const onnx::NodeProto& node, int position);

}  // namespace isomer
