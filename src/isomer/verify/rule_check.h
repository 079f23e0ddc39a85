#pragma once
// The bounded exact checker: tries a rule on every small instance of its source pattern.
//
// The real matcher and rewriter run on each instance, and both graphs are evaluated: in the prime field, where
// agreement at random points means equality up to a stated probability; in double precision on values of either sign,
// where disagreement refutes; on 64-bit integers and booleans, exactly, when the rule's conditions let them in. A rule
// that lets 16-bit types in must round alike on both sides.

#include <vector>

#include "isomer/rules/rule.h"
#include "isomer/verify/verdict.h"

namespace isomer {

struct CheckBounds {
  size_t max_rank = 4;
  /// Instances of one element type and rank that are tried. Where there are more, the bounds are narrowed
  /// (bounds_ladder.h) until all within them can be tried.
  size_t max_instances = 2000;
  /// Choices tried to list them, for one setting of the bounds.
  size_t max_steps = 60'000;
  /// Larger instances that are tried besides, at random: they can refute, but a pass does not rest on them.
  size_t sample = 40;
  /// A rule that applies to fewer instances is not tested.
  size_t least_instances = 8;
  /// Whether a pass needs instances that are no easier than larger ones.
  bool wide = true;
};

/// The verdict `refuted`, `tested` or `unknown` with how it came about. `tested` means that every instance within the
/// stated bounds holds, that there are enough of them, and that they are no easier than larger ones: what attributes
/// and extents a larger instance at random has other than trivial, one of them has too, all at once.
RuleVerdict check_rule(const Rule& rule, const CheckBounds& bounds = {});

/// All rules, on `threads` threads; the result does not depend on how many.
std::vector<RuleVerdict> check_rules(const std::vector<Rule>& rules, const CheckBounds& bounds, int threads);

}  // namespace isomer
