#pragma once
// The order of a model's nodes. ONNX wants each node behind those whose results it uses; some tools write them in
// another order, and engines accept that.

#include "isomer/base/result.h"
#include "onnx-ml.pb.h"

namespace isomer {

using NodeProtos = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Brings the nodes of a graph or function, and those of the graphs inside of them, into such an order. Nodes that are
/// in order stay where they are. An Error names the nodes of a cycle.
Status sort_nodes(NodeProtos& nodes);

}  // namespace isomer
