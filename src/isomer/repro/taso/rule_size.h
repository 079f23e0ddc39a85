#pragma once
// The size of a substitution as TASO counts it, and its operators.

#include <string>

#include "isomer/rules/rule.h"

namespace isomer {

/// Returns the number of operators of the larger side. A term that stands for any number of siblings counts twice,
/// because two are the fewest.
int size_of(const Rule& rule);

/// "Conv Conv => Split Conv Concat": the operators of both sides, from the results to the operands.
std::string operators_of(const Rule& rule);

}  // namespace isomer
