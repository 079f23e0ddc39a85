#pragma once
// Converts equalities to rules.

#include "isomer/discover/generalize.h"
#include "isomer/discover/term_pair.h"

namespace isomer {

/// A rule made from an equality, in one direction, with the verdict of the bounded checker.
using DiscoveredRule = CheckedRule;

/// Returns the rules of an equality that holds in all variants: from left to right, and from right to left, if the
/// source is an operator and binds all inputs. If one side is a concatenation, there is also a rule with two outputs:
/// concat(f, g) = h gives {f, g} => split(h). A pair of the same concatenation twice gives split(concat(f, g)) => {f,
/// g}. Each rule is as general as the checker confirms (generalize.h). A direction is omitted if the checker passes
/// none of its attempts.
std::vector<DiscoveredRule> rules_of(const TermPair& pair, std::span<const Universe> universes,
                                     std::span<const PairContext> variants, RuleChecker& checker);

}  // namespace isomer
