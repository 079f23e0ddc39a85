#pragma once
// Operators along one axis: the operand seen as [outer, extent, inner], and the axis in normalized form (counted from
// the front).

#include "isomer/ops/onnx_form.h"

namespace isomer {

/// Extents before, at and behind an axis, multiplied out.
struct AxisSplit {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;

  /// Where the line through (o, i) starts; its elements are `inner` apart.
  int64_t start(int64_t o, int64_t i) const { return o * extent * inner + i; }
};
/// `axis` must be a valid one, of either sign.
AxisSplit axis_split(const std::vector<int64_t>& dims, int64_t axis);

/// Hook: counts attribute `name` from the front, `preset` where the node does not give it. Leaves the node opaque where
/// the rank of operand 0 is not known.
Status normalize_axis(OnnxForm& form, const std::string& name, int64_t preset);
/// The rank of operand 0, if it is known.
std::optional<size_t> first_rank(const OnnxForm& form);

}  // namespace isomer
