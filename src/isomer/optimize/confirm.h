#pragma once
// The last word on what a search found: its outputs and its latency, compared with the model's on the engine.

#include "isomer/onnx/model.h"
#include "isomer/optimize/evaluation.h"

namespace isomer {

/// Decides whether `found` is handed out, by the options and the search of the report; fills the report's
/// `equivalence`, `measured`, `improved` and `outcome`. An Error where the engine does not run a graph.
Status confirm(const Model& model, const Graph& found, const Evaluation& evaluation, OptimizeReport& report);

}  // namespace isomer
