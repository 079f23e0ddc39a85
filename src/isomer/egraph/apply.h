#pragma once
// Applies a rule to an e-graph of computations.

#include "isomer/egraph/term_match.h"

namespace isomer {

/// A rule applied to terms: the terms of its two sides, over the same `leaves`. The leaves are the plainest terms of
/// the classes that the variables match.
struct TermApplication {
  const Direction* direction;
  std::vector<EClassId> from;
  std::vector<EClassId> to;
  std::vector<EClassId> leaves;
};

/// Adds the terms of both sides of a match to the graph. The caller merges their classes. Nothing if the new side is
/// not valid there (see apply_match in rules/rewrite.h), if the classes changed since the match, or, with `only_news`,
/// if the graph has the new side in these classes already.
std::optional<TermApplication> apply_rule(TermGraph& graph, const Direction& direction, const TermMatch& match,
                                          bool only_news);

}  // namespace isomer
