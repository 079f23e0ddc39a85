#pragma once
// Hashes the axioms that a proof of a rule depends on. Editing an axiom changes the hash and so invalidates earlier
// verdicts.

#include "isomer/rules/rule.h"

namespace isomer {

/// Returns the hash of the axioms of all operators in the rule, in their written form (axiom_texts).
uint64_t axioms_hash(const Rule& rule);

}  // namespace isomer
