#pragma once
// Bounds of numbers that follow from constants.

#include "isomer/ir/graph.h"

namespace isomer {

/// The largest absolute value of the elements of a real tensor, infinity if an element is NaN; 0 for other types.
double magnitude(const Tensor& tensor);

/// The same for a value that depends only on constants (Graph::is_constant_derived), or an upper bound of it. Looks
/// through at most 64 sums, products and movements; infinity if it finds no bound.
double magnitude(const Graph& graph, ValueId value);

}  // namespace isomer
