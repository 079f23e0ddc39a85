#pragma once
// Extracts a part of a graph as a separate graph, and puts its replacement back.

#include "isomer/certificate/replace.h"

namespace isomer::replay {

/// Returns the graph over `inputs` that computes `outputs`. An Error if an output needs an input of the whole graph
/// that is not among `inputs`.
Result<Graph> part_of(const Graph& whole, std::span<const ValueId> inputs, std::span<const ValueId> outputs);

/// Returns the replacement of `outputs` by the outputs of `part`, a graph over `inputs`.
Replacement put_back(std::vector<ValueId> inputs, std::vector<ValueId> outputs, Graph part);

}  // namespace isomer::replay
