#pragma once
// Equalities as rules.

#include "isomer/discover/generalize.h"
#include "isomer/discover/term_pair.h"

namespace isomer {

/// A rule that an equality gives, in one of its directions, with what the bounded checker says of it.
using DiscoveredRule = CheckedRule;

struct ToRuleOptions {
  /// How many choices of extents for the sizes to try, each without and, if need be, with equal shapes of
  /// interchangeable inputs.
  size_t attempts = 16;
};

/// The rules of an equality that holds in all variants: from left to right, and from right to left, where the source is
/// an operator and binds all inputs. One side that is a concatenation gives a rule with two outputs besides: of
/// concat(f, g) = h comes {f, g} => split(h). A pair of the same concatenation twice gives split(concat(f, g)) => {f,
/// g}. Each is as general as the checker confirms (generalize.h); a direction that no attempt makes a rule of that it
/// passes is left out.
std::vector<DiscoveredRule> rules_of(const TermPair& pair, std::span<const Universe> universes,
                                     std::span<const PairContext> variants, RuleChecker& checker,
                                     const ToRuleOptions& options = {});

}  // namespace isomer
