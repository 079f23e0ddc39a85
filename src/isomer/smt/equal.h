#pragma once
// Equality of elements for all values of what is not known in them.

#include "isomer/smt/scope.h"

namespace isomer {

/// Whether a = b follows from the facts of the scope, for all elements of the inputs and all functions. False means
/// only that this was not shown.
///
/// Products of both sides whose factors are equal after an invertible change of their sums' indices are collected; the
/// solver then shows for each collection that at every value of the indices the coefficients cancel. Equality of the
/// factors' indices is the solver's, too, so that nothing rests on how the change of indices was found.
bool equal_elements(Scope& scope, const Element& a, const Element& b);

}  // namespace isomer
