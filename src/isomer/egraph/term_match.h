#pragma once
// Matches a rule, in one of its directions, in an e-graph of computations.

#include "isomer/base/deadline.h"
#include "isomer/egraph/direction.h"
#include "isomer/egraph/needs.h"
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
  /// Instead of every sequence of siblings, `term...` as a root takes the largest group of each sibling with later
  /// ones, in the order in which their classes were made. This is how the matcher of graphs groups them.
  bool whole_groups = false;
  /// Roots must not be weights, as in the matcher of graphs.
  bool run_time_roots = false;
  /// Roots must not need each other (egraph/needs.h), because no graph could have them replaced together; nullptr: they
  /// may.
  ClassNeeds* needs = nullptr;
  Deadline end = Deadline::never();
};

/// Returns all matches whose conditions hold, up to the limits. `term...` as a root matches every sequence of siblings,
/// in any order; otherwise a pattern matches as in a graph (rules/match.h), with any node of a class.
/// `cut_off`, if not nullptr, is set to whether a limit ended the search.
std::vector<TermMatch> match_terms(const TermGraph& graph, const TermIndex& index, const Direction& direction,
                                   const TermMatchLimits& limits = {}, bool* cut_off = nullptr);

}  // namespace isomer
