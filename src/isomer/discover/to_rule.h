#pragma once
// Equalities as rules: the numbers that were sizes become extents of the inputs.

#include "isomer/discover/term_pair.h"
#include "isomer/verify/rule_check.h"

namespace isomer {

/// A rule that an equality gives, in one of its directions, with what the bounded checker says of it.
struct DiscoveredRule {
  Rule rule;
  RuleVerdict verdict;
};

struct ToRuleOptions {
  CheckBounds bounds = {};
  /// To choose between attempts.
  CheckBounds quick = {.max_instances = 200, .max_steps = 10'000, .sample = 5};
  /// How many choices of extents for the sizes to try, each without and, if need be, with equal shapes of
  /// interchangeable inputs.
  size_t attempts = 16;
};

/// The rules of an equality that holds in all variants: from left to right, and from right to left, where the source is
/// an operator and binds all inputs. A direction that no attempt makes a rule of that the checker passes is left out;
/// so are equalities with constants.
std::vector<DiscoveredRule> rules_of(const TermPair& pair, std::span<const Universe> universes,
                                     std::span<const PairContext> variants, const ToRuleOptions& options);

}  // namespace isomer
