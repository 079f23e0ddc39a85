#pragma once
// The bridge between a node as ONNX writes it at some opset and its normalized form.

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
  ValueId value = kNoValue;  ///< the value, where it is one of the graph; kNoValue for what export adds, or absent
  Tensor constant;           ///< its elements, where they are known; empty() otherwise
  bool absent() const { return value == kNoValue && constant.empty(); }
};

/// A node as ONNX writes it at opset `opset` (of its own domain). Hooks of operators rewrite it in place.
struct OnnxForm {
  std::string op_type;
  std::string domain;
  int opset = 0;
  std::map<std::string, AttrValue> attrs = {};
  std::vector<FormOperand> operands = {};
  size_t num_results = 1;
  /// Types of the operands where known (null otherwise); only on import and at run time.
  std::vector<const TensorType*> types = {};
  /// Why this node must stay opaque (import), or cannot be written at this opset (export). Empty: it need not.
  std::string obstacle = {};

  bool has(size_t i) const { return i < operands.size() && !operands[i].absent(); }
  /// Marks the node; returns success so that hooks can `return form.leave_opaque("...")`.
  Status leave_opaque(std::string why) {
    obstacle = std::move(why);
    return {};
  }
  /// Attribute `name` if it has kind T, else null.
  template <class T>
  const T* get(const std::string& name) const {
    const auto at = attrs.find(name);
    return at == attrs.end() ? nullptr : std::get_if<T>(&at->second);
  }
};

/// The form of an opaque node, still without operands.
OnnxForm opaque_form(const Node& node);

/// A node in normalized form.
struct NormalForm {
  const OpDef* op;
  Attrs attrs;
  std::vector<ValueId> operands;
  /// Index into the ONNX operands for each of `operands` (kNoOperand for absent ones): finds run-time tensors.
  std::vector<size_t> sources;
  static constexpr size_t kNoOperand = SIZE_MAX;
};

/// The normalized form, or nothing with `form.obstacle` set when the node must stay opaque (unknown operator, a
/// parameter that is computed at run time, a form that we do not model). An Error means that the node is invalid ONNX.
Result<std::optional<NormalForm>> normalize(OnnxForm& form);

/// The ONNX form of a normalized node at `opset`; operands that stand for attributes carry `constant` alone. When it
/// cannot be written at this opset, `obstacle` says why.
Result<OnnxForm> denormalize(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands, size_t num_results,
                             int opset);

/// Elements of an integer tensor (any integer dtype, or bool) as int64; an Error names what it is instead.
Result<Ints> int_elements(const Tensor& tensor);
/// Elements of a real tensor as float.
Result<Floats> float_elements(const Tensor& tensor);

}  // namespace isomer
