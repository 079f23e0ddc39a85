#pragma once
// The same elements in the same order with another shape.

#include "isomer/ops/axiom_parts.h"

namespace isomer {

/// x with another shape of as many elements. Of a reshape of a reshape, only the last shape counts. Groups of axes with
/// equally many elements at the same place are matched, so that indices are divided only where necessary.
SymbolicTensor relabeled(Scope& scope, const SymbolicTensor& x, std::vector<Dim> shape);

/// The tensor of which x is a reshape (of a reshape ...); x itself if it is none.
std::shared_ptr<const SymbolicTensor> origin_of(const SymbolicTensor& x);

/// The product of extents.
Dim product_of(const std::vector<Dim>& extents);

}  // namespace isomer
