#pragma once
// Names by which equal rules are equal texts.

#include "isomer/rules/rule.h"

namespace isomer {

/// The rule with inputs called a, b, c, ..., and other variables numbered, by first occurrence, with conditions in
/// alphabetical order behind those on ranks, and called by the hash of what it says then.
Rule with_canonical_names(const Rule& rule);

}  // namespace isomer
