#pragma once
// The final confirmation of a search's result: compares its outputs and its latency with the model's on the engine.

#include "isomer/onnx/model.h"
#include "isomer/optimize/evaluation.h"

namespace isomer {

/// Decides by the measured latencies: fills the report's `improved` and `outcome`.
void decide_by_latency(const OptimizeOptions& options, OptimizeReport& report);

/// Decides whether `found` is returned. Reads the report's search and fills its `equivalence`, `measured`, `improved`
/// and `outcome`. An Error if the engine does not run a graph.
Status confirm(const OptimizeOptions& options, const Candidate& model, const Candidate& found,
               const Evaluation& evaluation, OptimizeReport& report);

}  // namespace isomer
