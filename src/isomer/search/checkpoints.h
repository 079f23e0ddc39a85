#pragma once
// Keeping values at even distances, and computing the others twice (Chen et al. 2016, "Training Deep Nets with
// Sublinear Memory Cost", section 4).

#include <functional>
#include <vector>

#include "isomer/plan/candidate.h"

namespace isomer {

/// Returns the checkpoints of a graph, ascending: the values that are, at some place before the turn, the only one that
/// later nodes before the turn read. Inputs and weights are not counted. The turn is the last place with the most
/// checkpoints before it: in a training step it is near the loss, for what comes later also reads earlier values.
std::vector<ValueId> checkpoints(const Graph& graph);

/// Returns candidates that keep every k-th checkpoint and the last one, for k = 1, 2, 4 and so on, and for the square
/// root of their number. Of what is computed before the last one, they compute twice what is read after it, with what
/// that needs. For each k, one candidate keeps the first checkpoint. If another place to begin needs less memory, there
/// is also one for the best of them; at most eight are compared. `bytes` returns the memory that a candidate needs.
/// Decisions of the given candidate are kept. None if there are fewer than two checkpoints, or if no value before the
/// last one is read after it.
std::vector<Candidate> with_checkpoints(const Candidate& candidate,
                                        const std::function<double(const Candidate&)>& bytes);

}  // namespace isomer
