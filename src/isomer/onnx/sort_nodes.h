#pragma once
// Sorts the nodes of a model. ONNX requires each node to come after the nodes whose results it uses. Some tools write
// them in another order, and engines accept that.

#include "isomer/base/result.h"
#include "onnx-ml.pb.h"

namespace isomer {

using NodeProtos = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Sorts the nodes of a graph or function, and those of its subgraphs. Nodes that are already in order stay in place.
/// An Error names the nodes of a cycle.
Status sort_nodes(NodeProtos& nodes);

}  // namespace isomer
