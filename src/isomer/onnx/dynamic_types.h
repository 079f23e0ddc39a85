#pragma once
// Result types of nodes that stay opaque, as far as they are known although a parameter is computed at run time.

#include <functional>
#include <optional>
#include <vector>

#include "isomer/onnx/shape_values.h"

namespace isomer {

/// The known part of the type of a result.
struct PartialType {
  using Extents = std::vector<std::optional<Dim>>;

  DType dtype = DType::Undefined;
  std::optional<Extents> extents = std::nullopt;  ///< nullopt if the rank is not known
};

/// The types of the results of a node of ONNX's own domain; empty if nothing is known. All extents that are given are
/// correct at run time for any values of the symbols and of the parameters.
std::vector<PartialType> dynamic_types(const GraphBuilder& builder, const ShapeValues& shapes, const OnnxForm& form);

/// Combines the inferred type of a result with the type that the model declares (nullptr: none). `fresh` makes the
/// extents that neither of them has. If the two contradict each other, only the declared type is used.
TensorType completed(const PartialType& inferred, const TensorType* declared, const std::function<Dim()>& fresh);

}  // namespace isomer
