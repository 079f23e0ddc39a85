#pragma once
// The type of a value: element type and shape, either of which may be unknown.

#include <optional>
#include <string>

#include "isomer/base/dim.h"
#include "isomer/ir/dtype.h"

namespace isomer {

/// `dtype` is Undefined if the value is not a tensor (a sequence, a map) or the type is not known. `shape` is empty if
/// the rank is not known. Only results of opaque nodes and graph inputs may have unknown types.
struct TensorType {
  DType dtype = DType::Undefined;
  std::optional<Shape> shape;

  TensorType() = default;
  TensorType(DType element, Shape extents) : dtype(element), shape(std::move(extents)) {}

  /// Whether dtype and shape are known; symbolic dimensions count as known.
  bool known() const { return dtype != DType::Undefined && shape.has_value(); }
  size_t rank() const { return shape->size(); }

  /// The text of the type: "f32[1,3,N]", or "f32[?]" if the rank is not known.
  std::string str() const;
  uint64_t hash() const;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

}  // namespace isomer
