#pragma once
// Shape arithmetic on symbolic dimensions: what small integer vectors hold where their elements are extents.

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "isomer/ir/builder.h"
#include "isomer/ops/onnx_form.h"

namespace isomer {

/// The elements of an integer scalar or vector, as dimensions.
struct ShapeValue {
  std::vector<Dim> elements;
  bool scalar = false;
};

class ShapeValues {
 public:
  /// The elements of a value, where they are known: a small constant of integers or bools (0 and 1), or what `learn`
  /// found.
  std::optional<ShapeValue> find(const GraphBuilder& builder, ValueId value) const;

  /// Follows one node. True when the elements of its result became known.
  bool learn(const GraphBuilder& builder, NodeId id);

  /// Fills in operands of the form that say a shape (Reshape's, Expand's, ends of Slice) as constants that mean the
  /// same for every value of the symbols, where there are such constants.
  void express(const GraphBuilder& builder, OnnxForm& form) const;

 private:
  std::unordered_map<ValueId, ShapeValue> values_;
};

}  // namespace isomer
