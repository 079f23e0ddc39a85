#pragma once
// Rules as formulas, for people who do not know the rule language.

#include <string>

#include "isomer/rules/rule.h"

namespace isomer {

/// The rule in the notation of mathematics, in UTF-8: `x · a + x · b` for (Add (MatMul ?x ?a) (MatMul ?x ?b)),
/// `Conv[c](x, w)` for (Conv ..c ?x ?w), sources above targets ("⟹"), then names for parts of the target ("with"), free
/// parameters
/// ("for any") and conditions ("where"), a line each. `∘` multiplies element by element, `·` matrices.
std::string rule_formula(const Rule& rule);

}  // namespace isomer
