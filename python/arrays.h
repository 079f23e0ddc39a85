#pragma once
// NumPy arrays as Isomer's tensors, and the other way round.

#include <pybind11/numpy.h>

#include "isomer/ir/tensor.h"

namespace isomer {

/// A view of the array's elements, which the array must outlive; texts are copied. `given` is aligned, dense, row-major
/// and in native byte order. Raises TypeError for elements that no input can have.
Tensor tensor_from(const pybind11::array& given);

/// A new array with a tensor's elements: the same memory if nothing else has it. Raises TypeError where NumPy has no
/// such element type.
pybind11::array array_from(Tensor tensor);

}  // namespace isomer
