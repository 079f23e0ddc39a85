#pragma once
// Converts AttributeProto to AttrValue and back.

#include <optional>
#include <string>

#include "isomer/base/result.h"
#include "isomer/ir/attrs.h"
#include "isomer/onnx/external_data.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// The value; nullopt for kinds that the graph does not support (subgraphs, lists of tensors, sparse tensors, types,
/// references to attributes of a function).
Result<std::optional<AttrValue>> read_attr(const onnx::AttributeProto& proto, ExternalData& external);

onnx::AttributeProto attr_proto(const std::string& name, const AttrValue& value);

}  // namespace isomer
