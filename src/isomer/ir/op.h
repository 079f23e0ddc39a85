#pragma once
// The declaration of an operator: everything that the rest of the program knows about it. The declarations are in ops/.

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/attrs.h"
#include "isomer/ir/traits.h"
#include "isomer/ir/type.h"

namespace isomer {

struct OpDef;

/// One attribute of an operator in its normalized form.
struct AttrDef {
  std::string name;
  AttrKind kind;
  /// If empty, the attribute is required unless `optional`.
  std::optional<AttrValue> preset = std::nullopt;
  /// May be absent although it has no preset (as Clip's min; Reshape's allowzero, in contrast, has a preset).
  bool optional = false;
  /// The first ONNX opset that has this attribute (or operand, see ParamOperand).
  int since = 1;
  /// Export writes it even if it equals the preset, because older opsets have another default.
  bool always_written = false;
  AttrDomain domain = AttrDomain::Any;
  /// For the domains Values and Scalar.
  std::vector<AttrValue> values = {};
};

/// An attribute that ONNX passes as a constant operand since opset `since` (and as an attribute before).
struct ParamOperand {
  size_t index;  // in ONNX's numbering of operands
  std::string attr;
  int since;
};

/// An operator with its attributes and operand types: the input of type inference.
struct OpView {
  const OpDef& op;
  const Attrs& attrs;
  std::span<const TensorType* const> operands;  // nullptr for an absent optional operand
  size_t num_results = 1;

  bool has(size_t i) const { return i < operands.size() && operands[i] != nullptr; }
  const TensorType& type(size_t i) const { return *operands[i]; }
  const Shape& shape(size_t i) const { return *operands[i]->shape; }
  DType dtype(size_t i) const { return operands[i]->dtype; }
  size_t rank(size_t i) const { return operands[i]->shape->size(); }
};

/// Computes result types from operand types, or fails if the node is ill typed. Every operand type is known().
using InferFn = Result<std::vector<TensorType>> (*)(const OpView&);

/// Concrete extents of operands and results, for estimates of work.
struct WorkView {
  const Attrs& attrs;
  std::span<const std::vector<int64_t>> operands;  // empty vector for an absent operand
  std::span<const std::vector<int64_t>> results;
};
/// The number of floating-point operations of one run (a multiply-add counts as 2).
using FlopsFn = double (*)(const WorkView&);
inline double no_flops(const WorkView&) { return 0; }

/// One run of a reference kernel. Operands are row-major; an absent operand is an empty() Tensor. `types` are the
/// concrete result types. The kernel appends one Tensor of each type to `results`.
struct KernelContext {
  const Attrs& attrs;
  std::span<const Tensor> operands;
  std::span<const TensorType> types;
  std::span<const TensorType> stored = {};  // the results' types outside of the kernel, see Compute; `types` if empty
  std::vector<Tensor> results = {};
  /// Set by a kernel if ONNX leaves an element of its results undefined: engines may compute another one.
  bool undefined = false;

  bool has(size_t i) const { return i < operands.size() && !operands[i].empty(); }
  DType stored_dtype(size_t i) const { return (stored.empty() ? types : stored)[i].dtype; }
};
using KernelFn = Status (*)(KernelContext&);

/// The definition of an operator as a formula, for proofs (smt/axiom.h).
struct Axiom;
using AxiomFn = void (*)(Axiom&);

/// Adds the gradients of a node's operands to the graph (ops/backward.h).
class Backward;
using GradientFn = void (*)(Backward&);

/// The element types on which a kernel computes.
enum class Compute : uint8_t {
  /// Moves elements without interpreting them. The kernel sees any dtype unchanged.
  Movement,
  /// Computes with elements. The executor widens half and bfloat16 to float, and integers below 64 bits to int64
  /// (unsigned 64-bit integers stay), and narrows the results again. The kernel sees float, double, int64, uint64, bool
  /// and Field.
  Numeric,
  /// The kernel sees every dtype as it is stored, including packed ones (casts).
  AsIs,
};

struct OnnxForm;

/// The complete declaration of one operator.
struct OpDef {
  /// Most operators are declared; the others are the pseudo-operators of all graphs (see input_op).
  enum class Kind : uint8_t { Declared, Input, Constant, Opaque };

  std::string name;         // ONNX's op_type
  std::string domain = {};  // ONNX's domain; "" is the standard one
  std::vector<AttrDef> attrs = {};
  /// Operands in normalized form. The first `min_operands` are always present; kVariadic allows any number.
  size_t min_operands = 1;
  size_t max_operands = min_operands;
  /// Results that always exist. infer may return more if the node requests more (num_results).
  size_t min_results = 1;
  size_t max_results = min_results;
  InferFn infer = nullptr;
  FlopsFn flops = no_flops;
  KernelFn kernel = nullptr;  // nullptr: no reference kernel
  Compute compute = Compute::Numeric;
  AxiomFn axiom = nullptr;        // nullptr: proofs give up at this operator
  GradientFn gradient = nullptr;  // nullptr: graphs cannot be differentiated through this operator
  /// f(a, b) equals f(b, a) exactly.
  bool commutative = false;
  /// Extents of the results depend on the elements of operands (as in NonZero). infer returns symbols for these
  /// extents, and the kernel chooses the extents of its results (element types are in KernelContext::types).
  bool data_dependent = false;
  TraitSet traits = {};
  /// Roles of the first operands; the others hold Data.
  std::vector<OperandRole> roles = {};
  /// The infix notation in formulas; without it, formulas use function notation.
  std::optional<Infix> infix = std::nullopt;

  /// First ONNX opset in which the operator has a meaning that from_onnx understands.
  int since = 1;
  std::vector<ParamOperand> params = {};
  /// from_onnx converts a node of an older or unusual form to the normalized form, before `params` are read. It may
  /// call OnnxForm::leave_opaque. to_onnx converts back, after `params` were written. nullptr: nothing to do.
  Status (*from_onnx)(OnnxForm&) = nullptr;
  Status (*to_onnx)(OnnxForm&) = nullptr;

  Kind kind = Kind::Declared;
  uint64_t known_hash = 0;  // of the name and the domain; 0 until with_hash

  static constexpr size_t kVariadic = SIZE_MAX;
  /// Hash of the name and the domain.
  uint64_t hash() const { return known_hash != 0 ? known_hash : name_hash(); }
  /// Computes the hash of the name and the domain.
  uint64_t name_hash() const;
  const AttrDef* find_attr(std::string_view attr_name) const;
  bool has(Trait trait) const { return traits.has(trait); }
  OperandRole role(size_t operand) const { return operand < roles.size() ? roles[operand] : OperandRole::Data; }
};

/// Returns the operator with its hash, which is then not computed again. Its name and domain must not change.
OpDef with_hash(OpDef op);

/// The pseudo-operators of all graphs: Input (attribute `index`), Constant (attribute `value`) and Opaque (see
/// ir/graph.h). Their types are given, not inferred.
const OpDef& input_op();
const OpDef& constant_op();
const OpDef& opaque_op();

/// Checks attribute names and kinds against the declaration and fills in presets.
Result<Attrs> complete_attrs(const OpDef& op, const Attrs& given);

}  // namespace isomer
