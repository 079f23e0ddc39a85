#pragma once
// Rules about two siblings as rules about any number of them.

#include <optional>

#include "isomer/rules/rule.h"

namespace isomer {

/// A rule whose two sources, or the two operands of whose concatenations, are the same but for some inputs says the
/// same of any number: `(Concat (Relu ?a) (Relu ?b)) => (Relu (Concat ?a ?b))` becomes
/// `(Concat (Relu @a)...) => (Relu (Concat @a))`. Nothing where it has another form. Whether the rule still holds is
/// for the checker to judge.
std::optional<Rule> for_any_number(const Rule& rule);

}  // namespace isomer
