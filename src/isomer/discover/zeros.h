#pragma once
// Where a divisor is 0, x / x is not 1: neither the prime field, in which x / 0 is 0, nor random reals tell.

#include "isomer/rules/rule.h"

namespace isomer {

/// Whether a rule with a division or another partial function in its source keeps what comes out where inputs are 0, on
/// a sample of small graphs in double precision: equal numbers stay equal, NaN stays NaN. True for all other rules.
bool holds_at_zeros(const Rule& rule);

}  // namespace isomer
