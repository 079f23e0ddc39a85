#pragma once
// Element types of reference kernels, and conversions to and from them.

#include "isomer/base/result.h"
#include "isomer/ir/op.h"
#include "isomer/ir/tensor.h"

namespace isomer {

/// Element i of packed elements of `bits` bits (low bits first, none across the end of the data).
uint32_t packed_code(std::span<const std::byte> bytes, size_t i, size_t bits);
/// Sets the low `bits` bits of a code as element i, which must be 0 before.
void set_packed_code(std::span<std::byte> bytes, size_t i, size_t bits, uint32_t code);

/// Returns the element type that a kernel of this kind computes with for `dtype`. Numeric: float for the 16-bit types,
/// int64 for integers below 64 bits. Movement: uint8 for elements of less than a byte, one per byte. AsIs and
/// otherwise: `dtype`.
DType kernel_dtype(Compute compute, DType dtype);

/// Returns `tensor` with elements of kernel_dtype, or the tensor itself if it has that type.
Tensor widened(Compute compute, const Tensor& tensor);

/// The inverse conversion: integers wrap around, the 16-bit types are rounded to nearest even. `tensor` has
/// kernel_dtype(dtype).
Tensor narrowed(Compute compute, const Tensor& tensor, DType dtype);

/// The integer of a stored type (KernelContext::stored_dtype) that is nearest to `value`. Only types that Numeric
/// kernels widen to int64 change it.
int64_t nearest_stored(int64_t value, DType stored);

/// Converts floating-point elements to double precision, exactly; returns other tensors unchanged.
Tensor in_double(const Tensor& tensor);

/// Converts tensors in attributes (such as the fill value of a Pad) in the same way.
Attrs in_double(const Attrs& attrs);

/// Converts floating-point elements to the prime field exactly; returns other tensors unchanged. Fails on infinities
/// and NaN.
Result<Tensor> in_field(const Tensor& tensor);

}  // namespace isomer
