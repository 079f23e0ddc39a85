#pragma once
// Rules as formulas, for readers who do not know the rule language.

#include <string>

#include "isomer/rules/rule.h"

namespace isomer {

/// The rule in mathematical notation, in UTF-8: `x · a + x · b` for (Add (MatMul ?x ?a) (MatMul ?x ?b)), `Conv[c](x,
/// w)` for (Conv ..c ?x ?w). Sources come first, then targets ("⟹"), then names for parts of the target ("with"), free
/// parameters ("for any") and conditions ("where"), one per line. `∘` multiplies elementwise, `·` multiplies matrices.
std::string rule_formula(const Rule& rule);

}  // namespace isomer
