#pragma once
// What a proof of a rule rests on, as a number: an edit of an axiom changes it, and verdicts of before are void.

#include "isomer/rules/rule.h"

namespace isomer {

/// Of the axioms of all operators in the rule, as they read when they are written out (axiom_texts).
uint64_t axioms_hash(const Rule& rule);

}  // namespace isomer
