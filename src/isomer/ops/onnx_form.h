#pragma once
// Conversion between a node in ONNX form at some opset and its normalized form.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isomer/ir/graph.h"
#include "isomer/ir/op.h"

namespace isomer {

/// One operand of a node in ONNX form.
struct FormOperand {
  ValueId value = kNoValue;  ///< the graph's value; kNoValue if export adds the operand or it is absent
  Tensor constant;           ///< its elements if they are known; otherwise empty()
  bool absent() const { return value == kNoValue && constant.empty(); }
};

/// A node in ONNX form at opset `opset` (of its own domain). The operators' hooks modify it in place.
struct OnnxForm {
  std::string op_type;
  std::string domain;
  int opset = 0;
  std::map<std::string, AttrValue> attrs = {};
  std::vector<FormOperand> operands = {};
  size_t num_results = 1;
  /// Types of the operands if known (otherwise nullptr); only during import and at run time.
  std::vector<const TensorType*> types = {};
  /// The reason why this node must stay opaque (import) or cannot be written at this opset (export). Empty: no
  /// obstacle.
  std::string obstacle = {};

  bool has(size_t i) const { return i < operands.size() && !operands[i].absent(); }
  /// Marks the node as opaque. Returns success, so that hooks can `return form.leave_opaque("...")`.
  Status leave_opaque(std::string why) {
    obstacle = std::move(why);
    return {};
  }
  /// Attribute `name` if it has kind T, otherwise nullptr.
  template <class T>
  const T* get(const std::string& name) const {
    const auto at = attrs.find(name);
    return at == attrs.end() ? nullptr : std::get_if<T>(&at->second);
  }
};

/// The form of an opaque node, without its operands.
OnnxForm opaque_form(const Node& node);

/// A node in normalized form.
struct NormalForm {
  const OpDef* op;
  Attrs attrs;
  std::vector<ValueId> operands;
  /// For each of `operands`, its index among the ONNX operands (kNoOperand if absent), to find run-time tensors.
  std::vector<size_t> sources;
  static constexpr size_t kNoOperand = SIZE_MAX;
};

/// The normalized form. Returns nullopt and sets `form.obstacle` if the node must stay opaque (an unknown operator, a
/// parameter computed at run time, an unsupported form). An Error means that the node is invalid ONNX.
Result<std::optional<NormalForm>> normalize(OnnxForm& form);

/// The ONNX form of a normalized node at `opset`. Operands that were attributes have only `constant`. If the node
/// cannot be written at this opset, `obstacle` gives the reason.
Result<OnnxForm> denormalize(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands, size_t num_results,
                             int opset);

/// The value of an attribute as a constant: a scalar, a vector, or the tensor itself.
Tensor tensor_from_attr(const AttrValue& value);

/// The elements of an integer tensor (any integer dtype, or bool) as int64. An Error names the actual type.
Result<Ints> int_elements(const Tensor& tensor);
/// The elements of a real tensor as float.
Result<Floats> float_elements(const Tensor& tensor);

}  // namespace isomer
