#pragma once
// OCGGS's Pruning and dynamic programming as published, for comparison. They miss graphs.

#include "isomer/search/reached_graphs.h"

namespace isomer {

/// Algorithm 1: all sequences of substitutions that are ordered by definition 8. Substitutions are compared by the
/// substitutions that created the nodes that they match. This order does not know that a substitution can enable
/// another one without creating a node that it matches: by handing an input through (x for T(T(x))), or by making two
/// operands equal. Such a sequence is pruned if its labels are in the wrong order, although no other order exists. So
/// theorem 4 and corollary 1 do not hold, and graphs are missed that prune_search reaches.
///
/// Sequences, not graphs, are distinguished: a graph is expanded once for each ordered sequence that leads to it. Every
/// node of a graph counts as in the paper, except that equal nodes are one: a node that a target makes and that exists
/// already keeps its label. Fails only if `first` itself has no cost.
Result<FoundCandidate> published_prune_search(const Candidate& first, std::span<const Rule> rules,
                                              const CandidateCost& cost, const SequenceOptions& options,
                                              const std::vector<NodeId>& numbers = {});

/// Algorithm 2: the same with theorem 6. The substitutions after a sequence are those after its last substitution's
/// parent that match other nodes, and those that match a node that the last substitution created. Substitutions that
/// are enabled in another way are in neither set, so even fewer graphs are reached. Only the set of the substitutions
/// is that of the paper; they are not found faster. Those that an earlier substitution has spoiled are left out,
/// because they cannot be applied.
Result<FoundCandidate> published_dpp_search(const Candidate& first, std::span<const Rule> rules,
                                            const CandidateCost& cost, const SequenceOptions& options,
                                            const std::vector<NodeId>& numbers = {});

}  // namespace isomer
