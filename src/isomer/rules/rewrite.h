#pragma once
// Applying a match: the graph with the roots replaced by the rule's targets.

#include "isomer/ir/builder.h"
#include "isomer/ir/derivation.h"
#include "isomer/rules/match.h"

namespace isomer {

/// The rewritten graph. An Error says why the target cannot stand there: a node is ill typed, a type differs from the
/// one that it replaces, a shape expression is not known, a cycle would close, or it computes a weight that is refused
/// (null: none is). Unchanged values keep their origins; what replaces a root gets the root's.
Result<Graph> apply_match(const Graph& graph, const Match& match, const RefusedWeights* refused = nullptr);

struct Rewritten {
  Graph graph;
  std::vector<const Match*> applied;  ///< in the order given
};
/// Applies many matches at once. One that shares a root with an earlier one, or whose target cannot stand, is left out.
Rewritten apply_matches(const Graph& graph, std::span<const Match> matches, const RefusedWeights* refused = nullptr);

/// Builds the terms of `rule`'s target over the values of `binding` (ids of `builder`); returns the values that replace
/// the roots. `element` is the dtype of literals.
Result<std::vector<ValueId>> instantiate_targets(GraphBuilder& builder, const Rule& rule, Binding binding,
                                                 DType element);

}  // namespace isomer
