#pragma once
// A part of a graph as a graph of its own, and what was made of it put back.

#include "isomer/verify/replay/replace.h"

namespace isomer::replay {

/// The graph over `inputs` that computes `outputs`. An Error where an output needs an input of the whole that is not
/// among `inputs`.
Result<Graph> part_of(const Graph& whole, std::span<const ValueId> inputs, std::span<const ValueId> outputs);

/// The replacement of `outputs` by what `part`, a graph over `inputs`, computes.
Replacement put_back(std::vector<ValueId> inputs, std::vector<ValueId> outputs, Graph part);

}  // namespace isomer::replay
