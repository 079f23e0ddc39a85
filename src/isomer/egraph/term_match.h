#pragma once
// Matches a rule, in one of its directions, in an e-graph of computations.

#include "isomer/egraph/direction.h"
#include "isomer/egraph/term_index.h"

namespace isomer {

/// The values of the variables of a direction (ids of classes), and the classes of the values that are replaced.
struct TermMatch {
  Binding binding;
  std::vector<EClassId> roots;
};

struct TermMatchLimits {
  size_t matches = 100;     ///< of one direction
  size_t nodes = 20'000;    ///< maximum number tried against terms of the pattern
  size_t max_siblings = 3;  ///< of a repeated source
  size_t max_guesses = 32;  ///< maximum number of values tried for everything that matching leaves open
};

/// Returns all matches whose conditions hold, up to the limits. `term...` as a root matches every sequence of siblings,
/// in any order; otherwise a pattern matches as in a graph (rules/match.h), with any node of a class.
std::vector<TermMatch> match_terms(const TermGraph& graph, const TermIndex& index, const Direction& direction,
                                   const TermMatchLimits& limits = {});

}  // namespace isomer
