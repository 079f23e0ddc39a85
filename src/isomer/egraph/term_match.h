#pragma once
// Where a rule, in one of its directions, matches in an e-graph of computations.

#include "isomer/egraph/direction.h"
#include "isomer/egraph/term_index.h"

namespace isomer {

/// What the variables of a direction stand for (ids of classes), and the classes of the values that are replaced.
struct TermMatch {
  Binding binding;
  std::vector<EClassId> roots;
};

struct TermMatchLimits {
  size_t matches = 100;      ///< of one direction
  size_t nodes = 20'000;     ///< tried against terms of the pattern
  size_t most_siblings = 3;  ///< of a repeated source
  size_t most_guesses = 32;  ///< values tried for what matching leaves open, in all
};

/// All matches whose conditions hold, up to the limits. `term...` as a root matches every series of siblings, in any
/// order; otherwise a pattern matches as it does in a graph (rules/match.h), with any node of a class in its place.
std::vector<TermMatch> match_terms(const TermGraph& graph, const TermIndex& index, const Direction& direction,
                                   const TermMatchLimits& limits = {});

}  // namespace isomer
