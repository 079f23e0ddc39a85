#pragma once
// Generalizes rules about two siblings to any number of them.

#include <optional>

#include "isomer/rules/rule.h"

namespace isomer {

/// If the two sources of a rule, or the two operands of its concatenations, differ only in some inputs, returns the
/// same rule for any number: `(Concat (Relu ?a) (Relu ?b)) => (Relu (Concat ?a ?b))` becomes `(Concat (Relu @a)...) =>
/// (Relu (Concat @a))`. Returns nothing if it has another form. The checker must decide whether the new rule holds.
std::optional<Rule> for_any_number(const Rule& rule);

}  // namespace isomer
