#pragma once
// The bounded exact checker: tries a rule on every small instance of its source pattern.
//
// The real matcher and rewriter run on each instance, and both graphs are evaluated. In the prime field, agreement at
// random points means equality up to a stated probability. In double precision, on values of either sign, a difference
// refutes the rule. On 64-bit integers and booleans, if the rule's conditions allow them, the comparison is exact. A
// rule that allows 16-bit types must round in the same way on both sides.

#include <vector>

#include "isomer/rules/rule.h"
#include "isomer/rules/verdict.h"

namespace isomer {

struct CheckBounds {
  size_t max_rank = 4;
  /// Maximum number of instances of one element type and rank. If there are more, the bounds are narrowed
  /// (bounds_ladder.h) until all instances within them can be tried.
  size_t max_instances = 2000;
  /// Maximum number of choices tried to list them, for one setting of the bounds.
  size_t max_steps = 60'000;
  /// Number of additional larger instances, which are random: they can refute, but a pass does not depend on them.
  size_t sample = 40;
  /// A rule that applies to fewer instances is not tested.
  size_t min_instances = 8;
  /// Whether a pass requires that the instances are not easier than larger ones.
  bool wide = true;
};

/// Returns the verdict `refuted`, `tested` or `unknown` with the reason. `tested` means that every instance within the
/// stated bounds holds, that there are enough of them, and that they are not easier than larger ones: if a larger
/// random instance has some non-trivial attributes and extents, one of the tried instances has all of these at once.
RuleVerdict check_rule(const Rule& rule, const CheckBounds& bounds = {});

}  // namespace isomer
