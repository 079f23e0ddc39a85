#pragma once
// Canonical names, with which equal rules have equal texts.

#include "isomer/rules/rule.h"

namespace isomer {

/// What records of attributes are called.
enum class RecordNames : uint8_t {
  Kept,      ///< the names that they have: those of operators, such as `..conv`
  Numbered,  ///< r0, r1, ... by first occurrence
};

/// Returns the rule with inputs called a, b, c, ..., and other variables numbered, by first occurrence. Conditions on
/// ranks come first, the others in alphabetical order. The rule's name is the hash of the resulting text.
Rule with_canonical_names(const Rule& rule, RecordNames records = RecordNames::Kept);

}  // namespace isomer
