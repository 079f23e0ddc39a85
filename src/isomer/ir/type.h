#pragma once
// The type of a value: element type and shape, either of which may be unknown.

#include <optional>
#include <string>

#include "isomer/base/dim.h"
#include "isomer/ir/dtype.h"

namespace isomer {

/// `dtype` is Undefined for what is no tensor (a sequence, a map) or is not known; `shape` is empty when the rank is
/// not known. Only results of opaque nodes and graph inputs may be unknown.
struct TensorType {
  DType dtype = DType::Undefined;
  std::optional<Shape> shape;

  TensorType() = default;
  TensorType(DType element, Shape extents) : dtype(element), shape(std::move(extents)) {}

  /// Both parts are known; symbolic dimensions count as known.
  bool known() const { return dtype != DType::Undefined && shape.has_value(); }
  size_t rank() const { return shape->size(); }

  /// "f32[1,3,N]"; "f32[?]" when the rank is unknown.
  std::string str() const;
  uint64_t hash() const;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

}  // namespace isomer
