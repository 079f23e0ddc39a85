#pragma once
// Result types of nodes that stay opaque: what can be said of them although a parameter is computed at run time.

#include <functional>
#include <optional>
#include <vector>

#include "isomer/onnx/shape_values.h"

namespace isomer {

/// What is known of the type of a result.
struct PartialType {
  using Extents = std::vector<std::optional<Dim>>;

  DType dtype = DType::Undefined;
  std::optional<Extents> extents = std::nullopt;  ///< nothing where the rank is not known
};

/// The types of the results of a node of ONNX's own domain, by result; empty where nothing is known. Every extent that
/// is given holds at run time, whatever the values of the symbols and of the parameters.
std::vector<PartialType> dynamic_types(const GraphBuilder& builder, const ShapeValues& shapes, const OnnxForm& form);

/// The type of a result of which `inferred` is known and that the model declares as `declared` (null: not at all).
/// Extents that neither of them says are made by `fresh`. Where the two contradict, the declared type alone counts.
TensorType completed(const PartialType& inferred, const TensorType* declared, const std::function<Dim()>& fresh);

}  // namespace isomer
