#pragma once
// The same elements in the same order under another shape.

#include "isomer/ops/axiom_parts.h"

namespace isomer {

/// x under a shape of as many elements. Axes that together have as many elements as axes of x at the same place are
/// matched, so that indices are divided only where they must be.
SymbolicTensor relabeled(Scope& scope, const SymbolicTensor& x, std::vector<Dim> shape);

/// Π of extents.
Dim product_of(const std::vector<Dim>& extents);

}  // namespace isomer
