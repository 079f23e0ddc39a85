#pragma once
// Operators along one axis: the operand as [outer, extent, inner], and the axis in normalized form (counted from the
// front).

#include "isomer/ops/onnx_form.h"

namespace isomer {

/// The products of the extents before, at and after an axis.
struct AxisSplit {
  int64_t outer;
  int64_t extent;
  int64_t inner;

  /// The index where the line through (o, i) starts. Its elements are `inner` apart.
  int64_t start(int64_t o, int64_t i) const { return o * extent * inner + i; }
};
/// `axis` must be valid; negative axes count from the back.
AxisSplit axis_split(const std::vector<int64_t>& dims, int64_t axis);

/// Hook: converts attribute `name` to count from the front; `preset` is the default. Marks the node as opaque if the
/// rank of operand 0 is not known.
Status normalize_axis(OnnxForm& form, const std::string& name, int64_t preset);

}  // namespace isomer
