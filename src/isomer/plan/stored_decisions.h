#pragma once
// Decisions in the file of a model, where an engine that obeys them finds them. Other programs ignore them.

#include <nlohmann/json_fwd.hpp>

#include "isomer/base/result.h"
#include "isomer/onnx/model.h"
#include "isomer/plan/candidate.h"

namespace isomer {

/// Returns a candidate's decisions by the names that its values have in the model's file:
/// {"layouts": {"conv1": "blocked"}, "algorithms": {"conv1": "winograd"}}. Skips values whose names are not UTF-8,
/// which JSON cannot hold. An Error if the graph cannot be exported.
Result<nlohmann::json> decisions_by_name(const Model& model, const Candidate& candidate);

/// Returns those decisions of `before` whose values have none of that kind in `after`. Both have the form of
/// decisions_by_name, and so has the result.
nlohmann::json dropped_decisions(const nlohmann::json& before, const nlohmann::json& after);

/// Returns the decisions in the model's metadata, about values of its graph. Skips names that no value has, and kinds
/// of decisions that are not known. An Error if the text is not JSON of that form.
Result<Decisions> stored_decisions(const Model& model);

/// Returns a model for export: the given one, but with the candidate's graph, and with its decisions by name as the
/// only ones in the metadata. Decisions of unknown kinds are lost, because they may not fit the candidate's graph. An
/// Error if the graph cannot be exported.
Result<Model> with_candidate(const Model& model, const Candidate& candidate);

}  // namespace isomer
