#pragma once
// Finds the nodes that belong to a model's quantization.

#include <vector>

#include "onnx-ml.pb.h"

namespace isomer {

/// Returns for each node of the graph whether it must not be changed, because engines match quantized patterns around
/// it. That is the case if the node quantizes, dequantizes or computes on quantized data, is adjacent to such a
/// boundary, or is between two of them (from a DequantizeLinear to a QuantizeLinear).
std::vector<bool> quantized_nodes(const onnx::GraphProto& graph);

}  // namespace isomer
