#pragma once
// The declaration of an operator: everything that the rest of the program knows about it. The declarations stand in
// ops/.

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/attrs.h"
#include "isomer/ir/type.h"

namespace isomer {

struct OpDef;

/// One attribute of an operator in its normalized form.
struct AttrDef {
  std::string name;
  AttrKind kind;
  /// Empty: the attribute must be given, unless `optional`.
  std::optional<AttrValue> preset = std::nullopt;
  /// May be absent although it has no preset (Clip's min, Reshape's allowzero has a preset).
  bool optional = false;
  /// The first ONNX opset that has this attribute (or operand, see ParamOperand).
  int since = 1;
  /// Export writes it even where it equals the preset, because older opsets have another default.
  bool always_written = false;
};

/// An attribute that ONNX passes as a constant operand from opset `since` on (and as an attribute before).
struct ParamOperand {
  size_t index;  // of the operand, in ONNX's numbering
  std::string attr;
  int since;
};

/// An operator with its attributes and operand types: what type inference and cost formulas see.
struct OpView {
  const OpDef& op;
  const Attrs& attrs;
  std::span<const TensorType* const> operands;  // null for an absent optional operand
  size_t num_results = 1;

  bool has(size_t i) const { return i < operands.size() && operands[i] != nullptr; }
  const TensorType& type(size_t i) const { return *operands[i]; }
  const Shape& shape(size_t i) const { return *operands[i]->shape; }
  DType dtype(size_t i) const { return operands[i]->dtype; }
  size_t rank(size_t i) const { return operands[i]->shape->size(); }
};

/// Result types from operand types, or why the node is ill typed. Every operand type is known().
using InferFn = Result<std::vector<TensorType>> (*)(const OpView&);

/// Concrete extents of operands and results, for cost formulas.
struct WorkView {
  const Attrs& attrs;
  std::span<const std::vector<int64_t>> operands;  // empty vector for an absent operand
  std::span<const std::vector<int64_t>> results;
};
/// Floating-point operations of one run (a multiply-add counts 2).
using FlopsFn = double (*)(const WorkView&);

/// One run of a reference kernel. Operands are row-major; an absent one is an empty() Tensor. `types` are the concrete
/// result types, and the kernel appends one Tensor of each to `results`.
struct KernelContext {
  const Attrs& attrs;
  std::span<const Tensor> operands;
  std::span<const TensorType> types;
  std::vector<Tensor> results = {};

  bool has(size_t i) const { return i < operands.size() && !operands[i].empty(); }
};
using KernelFn = Status (*)(KernelContext&);

/// The meaning of an operator as mathematics, for proofs (smt/axiom.h).
struct Axiom;
using AxiomFn = void (*)(Axiom&);

/// Which element types a kernel computes on.
enum class Compute : uint8_t {
  /// Moves elements without looking at them: any dtype, as it is.
  Movement,
  /// Computes: the executor widens half and bfloat16 to float, and integers below 64 bits to int64 (unsigned ones of 64
  /// bits stay), and narrows the results again. The kernel sees float, double, int64, uint64, bool and Field.
  Numeric,
  /// Sees every dtype as it is stored, packed ones too (casts).
  AsIs,
};

struct OnnxForm;

/// One operator, declared in one place (DESIGN.md section 4).
struct OpDef {
  std::string name;         // ONNX's op_type
  std::string domain = {};  // ONNX's domain; "" is the standard one
  std::vector<AttrDef> attrs = {};
  /// Operands in normalized form: `min_operands` first ones are present; up to max_operands (kVariadic: any number).
  size_t min_operands = 1;
  size_t max_operands = 1;
  /// Results that are always there; infer may give more, when the node asks for more (num_results).
  size_t min_results = 1;
  size_t max_results = 1;
  InferFn infer = nullptr;
  FlopsFn flops = nullptr;
  KernelFn kernel = nullptr;  // null: no reference kernel
  Compute compute = Compute::Numeric;
  AxiomFn axiom = nullptr;  // null: proofs give up at this operator
  /// f(a, b) = f(b, a), exactly.
  bool commutative = false;
  /// Extents of the results depend on the elements of operands (NonZero): infer gives symbols for those, and the kernel
  /// makes results of its own extents (of the element types in KernelContext::types).
  bool data_dependent = false;

  /// First ONNX opset at which the operator exists with a meaning that from_onnx understands.
  int since = 1;
  std::vector<ParamOperand> params = {};
  /// Brings a node of an older or odd form into the normalized one, before `params` are read. It may call
  /// OnnxForm::leave_opaque. And back, after `params` were written. Null: nothing to do.
  Status (*from_onnx)(OnnxForm&) = nullptr;
  Status (*to_onnx)(OnnxForm&) = nullptr;

  static constexpr size_t kVariadic = SIZE_MAX;
  /// Hash of name and domain.
  uint64_t hash() const;
  const AttrDef* find_attr(std::string_view attr_name) const;
};

/// The pseudo-operators of every graph: Input (attribute `index`), Constant (attribute `value`) and Opaque (see
/// ir/graph.h). Their types are given, not inferred.
const OpDef& input_op();
const OpDef& constant_op();
const OpDef& opaque_op();

/// Checks attribute names and kinds against the declaration and fills in presets.
Result<Attrs> complete_attrs(const OpDef& op, const Attrs& given);

}  // namespace isomer
