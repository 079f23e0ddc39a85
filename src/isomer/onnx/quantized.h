#pragma once
// Which nodes of a model are part of its quantization.

#include <vector>

#include "onnx-ml.pb.h"

namespace isomer {

/// For each node of the graph, whether it must stay as it is because engines match quantized patterns around it: it
/// quantizes, dequantizes or computes on quantized data, or it stands next to such a boundary or between two of them
/// (from a DequantizeLinear on to a QuantizeLinear).
std::vector<bool> quantized_nodes(const onnx::GraphProto& graph);

}  // namespace isomer
