#pragma once
// What inspect and diff say about models.

#include <nlohmann/json.hpp>
#include <string>

#include "isomer/onnx/model.h"

namespace isomer {

/// [{"name", "type"}] of the inputs or outputs; of inputs also "has_default".
nlohmann::json interface_json(const Model& model, bool outputs);

/// The name of a node's first named result; empty when none has one.
std::string node_name(const Graph& graph, const Node& node);

/// Why an opaque node is opaque, as far as it can be told from the node and its operands.
std::string why_opaque(const Graph& graph, const Node& node);

}  // namespace isomer
