#pragma once
// Shape arithmetic on symbolic dimensions: the elements of small integer vectors that contain extents.

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
  /// The elements of a value if they are known: it is a small constant of integers or bools (0 and 1), or `learn`
  /// computed them.
  std::optional<ShapeValue> find(const GraphBuilder& builder, ValueId value) const;

  /// Evaluates one node. Returns true if the elements of its result became known.
  bool learn(const GraphBuilder& builder, NodeId id);

  /// Replaces operands of the form that describe shapes (of Reshape, Expand, ends of Slice) by equivalent constants, if
  /// there are constants that are correct for every value of the symbols.
  void express(const GraphBuilder& builder, OnnxForm& form) const;

 private:
  std::unordered_map<ValueId, ShapeValue> values_;
};

}  // namespace isomer
