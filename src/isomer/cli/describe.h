#pragma once
// Descriptions of models for inspect and diff.

#include <nlohmann/json.hpp>
#include <string>

#include "isomer/onnx/model.h"
#include "isomer/plan/decisions.h"

namespace isomer {

/// Returns [{"name", "type"}] of the inputs or outputs; inputs also have "has_default".
nlohmann::json interface_json(const Model& model, bool outputs);

/// Returns the name of a node's first named result; empty if none has one.
std::string node_name(const Graph& graph, const Node& node);

/// Returns why an opaque node is opaque, as far as the node and its operands show it.
std::string why_opaque(const Graph& graph, const Node& node);

/// Returns [{"value", "kind", "choice", "no_effect"}] of decisions about values of a graph. "no_effect" says why the
/// decision cannot have an effect; null if it may have one.
nlohmann::json decision_rows(const Graph& graph, const Decisions& decisions);

}  // namespace isomer
