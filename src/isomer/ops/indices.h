#pragma once
// Index operands of gathering and scattering kernels.

#include "isomer/ops/kernel.h"
#include "isomer/ops/onnx_form.h"

namespace isomer {

/// `index` counted from the front of `extent` elements. Fails if it is out of range.
inline Result<int64_t> checked_index(int64_t index, int64_t extent) {
  if (index < -extent || index >= extent) return fail("index {} is out of range for {} elements", index, extent);
  return index < 0 ? index + extent : index;
}

/// Fails unless operand i has an index type.
Status want_indices(const OpView& view, size_t i);

/// For each element of `indices`, the offset of the element that it selects along `axis` at its own place along the
/// other axes. Fails if an index is out of range.
Result<std::vector<int64_t>> element_offsets(const Tensor& indices, const std::vector<int64_t>& extents, int64_t axis);

/// Hook: marks the node as opaque unless the length of the coordinates in operand 1 is known.
Status coordinates_from_onnx(OnnxForm& form);

/// Coordinates along the leading axes of `dims` (as many as `coordinates`) as one offset.
Result<int64_t> coordinate_offset(std::span<const int64_t> coordinates, std::span<const int64_t> dims);

/// Product of dims[begin..end).
int64_t extent_product(const std::vector<int64_t>& dims, size_t begin, size_t end);

}  // namespace isomer
