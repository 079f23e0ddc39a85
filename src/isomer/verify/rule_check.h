#pragma once
// The bounded exact checker: tries a rule on every small instance of its source pattern.
//
// The real matcher and rewriter run on each instance, and both graphs are evaluated: in the prime field, where
// agreement at random points means equality up to a stated probability; in double precision on values of either sign,
// where disagreement refutes; on 64-bit integers and booleans, exactly, when the rule's conditions let them in.

#include <vector>

#include "isomer/rules/rule.h"
#include "isomer/verify/verdict.h"

namespace isomer {

struct CheckBounds {
  size_t max_rank = 4;
  /// Instances of one element type and rank that are tried. Where there are more, the bounds shrink, and where that
  /// does not do, a sample is drawn.
  size_t max_instances = 2000;
  /// Choices tried to list them, for one setting of the bounds.
  size_t max_steps = 100'000;
  size_t sample = 300;
};

/// The verdict `refuted`, `tested` or `unknown` with how it came about.
RuleVerdict check_rule(const Rule& rule, const CheckBounds& bounds = {});

/// All rules, on `threads` threads; the result does not depend on how many.
std::vector<RuleVerdict> check_rules(const std::vector<Rule>& rules, const CheckBounds& bounds, int threads);

}  // namespace isomer
