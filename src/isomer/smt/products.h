#pragma once
// Consequences of facts that a solver for linear arithmetic needs to answer questions about products of unknowns.

#include <span>
#include <vector>

#include "isomer/smt/formula.h"

namespace isomer {

/// Returns products of a fact e >= 0 (or e == 0) and a symbol that the facts state to be nonnegative. Each is true
/// wherever the facts are. Only products are returned whose monomials of degree 2 or more occur in the facts: others
/// would not help a solver that treats each of them as one unknown.
std::vector<Formula> products_of_facts(std::span<const Formula> facts);

}  // namespace isomer
