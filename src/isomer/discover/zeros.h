#pragma once
// Checks rules with divisions where the divisor is 0, since x / x is not 1 there. Neither the prime field, in which x /
// 0 is 0, nor random real numbers detect this.

#include "isomer/rules/rule.h"

namespace isomer {

/// Returns whether a rule with a division or another partial function in its source keeps the results for inputs with
/// zeros, on a sample of small graphs in double precision: equal numbers stay equal, NaN stays NaN. True for all other
/// rules.
bool holds_at_zeros(const Rule& rule);

}  // namespace isomer
