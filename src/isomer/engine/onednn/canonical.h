#pragma once
// Prepares a graph for planning: makes extents concrete, folds everything that they determine, and normalizes nodes to
// the forms that kernels have.

#include <span>

#include "isomer/base/result.h"
#include "isomer/plan/candidate.h"

namespace isomer::onednn {

/// Returns the graph for inputs of these types, which must fit its own. Nodes that depend only on constants and extents
/// are folded (except for results above 256 MiB that are larger than their operands). Opaque nodes whose parameters
/// become known are normalized. Batch normalizations are merged into the convolutions before them if nothing else reads
/// these; a Gelu that is written out becomes one node; a concatenation that begins with the operands of another begins
/// with that one; a product of joined rows becomes the concatenation of the products of its parts if these exist, as do
/// sums of such products. Outputs keep their order and meaning.
/// Decisions are about values of `graph`; returned are those about the values that take their places.
Result<Candidate> canonicalize(const Graph& graph, std::span<const TensorType> inputs, const Decisions& decisions = {});

}  // namespace isomer::onednn
