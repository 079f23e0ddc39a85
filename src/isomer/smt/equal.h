#pragma once
// Equality of elements for all values of their unknowns.

#include "isomer/smt/scope.h"

namespace isomer {

/// Whether a = b follows from the facts of the scope, for all elements of the inputs and all functions. False only
/// means that this was not shown.
///
/// Products of both sides are grouped if their factors are equal after an invertible change of the summation indices.
/// For each group, the solver then shows that the coefficients cancel at every value of the indices. The solver also
/// shows that the indices of the factors are equal, so the proof does not depend on how the change of indices was
/// found.
bool equal_elements(Scope& scope, const Element& a, const Element& b);

}  // namespace isomer
