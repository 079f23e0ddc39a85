#pragma once
// Keeping values at even distances, and computing the others twice (Chen et al. 2016, "Training Deep Nets with
// Sublinear Memory Cost", section 4).

#include <vector>

#include "isomer/plan/candidate.h"

namespace isomer {

/// Returns the checkpoints of a graph, ascending. Of the nodes before the turn, they are the cuts: after its
/// computation or later, a cut is the only value there that nodes before the turn still read. (Inputs, and what depends
/// only on constants, are not counted.) The turn is the last place with the most cuts: in a training step it is near
/// the loss, for what comes later also reads values before the cuts.
std::vector<ValueId> checkpoints(const Graph& graph);

/// Returns candidates that keep every checkpoint, every second one, every fourth one and so on, and always the last.
/// Of what is computed before that, they compute twice what is read after it, with what that needs. None if there are
/// less than two checkpoints, or if no value before the last one is read after it.
std::vector<Candidate> with_checkpoints(const Candidate& candidate);

}  // namespace isomer
