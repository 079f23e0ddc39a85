#pragma once
// Element types around a reference kernel: what it computes on, and the way there and back.

#include "isomer/base/result.h"
#include "isomer/ir/op.h"
#include "isomer/ir/tensor.h"

namespace isomer {

/// The element type that a kernel of this kind sees for `dtype`. Numeric: float for the 16-bit types, int64 for
/// integers below 64 bits. Movement: uint8 for elements of less than a byte, which stand one a byte there. AsIs and
/// otherwise: `dtype`.
DType kernel_dtype(Compute compute, DType dtype);

/// `tensor` with elements of kernel_dtype; the tensor itself where that is its own.
Tensor widened(Compute compute, const Tensor& tensor);

/// The way back: integers wrap around, the 16-bit types are rounded to nearest even. `tensor` has kernel_dtype(dtype).
Tensor narrowed(Compute compute, const Tensor& tensor, DType dtype);

/// Real elements in double precision, exactly; other tensors as they are.
Tensor in_double(const Tensor& tensor);

/// Attributes whose tensors, such as what a Pad fills with, have become so.
Attrs in_double(const Attrs& attrs);

/// Real elements taken into the prime field exactly; other tensors as they are. Fails on infinities and NaN.
Result<Tensor> in_field(const Tensor& tensor);

}  // namespace isomer
