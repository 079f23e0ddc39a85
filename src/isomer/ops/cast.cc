// Conversions between element types: Cast, CastLike, BitCast.

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <variant>

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/domain.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"
#include "isomer/ops/kernel_types.h"
#include "isomer/ops/onnx_form.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/small_float.h"
#include "isomer/ops/stored.h"

namespace isomer {
namespace {

/// The elements of any numeric tensor, without loss.
using Numbers = std::variant<std::vector<double>, std::vector<int64_t>, std::vector<uint64_t>>;

template <class From, class To>
Numbers widened_elements(const Tensor& tensor) {
  const auto from = tensor.data<From>();
  return std::vector<To>(from.begin(), from.end());
}

bool is_packed_integer(DType dtype) {
  return dtype == DType::Int4 || dtype == DType::Uint4 || dtype == DType::Int2 || dtype == DType::Uint2;
}

/// Packed integers and the small floating-point types.
Result<Numbers> decoded(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  const size_t bits = dtype_bits(dtype);
  const auto n = static_cast<size_t>(tensor.element_count());
  if (is_packed_integer(dtype)) {
    const int64_t sign = dtype == DType::Int4 || dtype == DType::Int2 ? int64_t{1} << (bits - 1) : 0;
    std::vector<int64_t> out(n);
    for (size_t i = 0; i < n; ++i) out[i] = (static_cast<int64_t>(packed_code(tensor.bytes(), i, bits)) ^ sign) - sign;
    return out;
  }
  std::vector<double> out(n);
  for (size_t i = 0; i < n; ++i) {
    const auto value = small_float_value(dtype, packed_code(tensor.bytes(), i, bits));
    if (!value) return fail("the reference kernel does not cast from {}", dtype_name(dtype));
    out[i] = *value;
  }
  return out;
}

/// Parses a number: decimal or scientific, or INF and NaN in any case.
Result<double> parsed(const std::string& text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  // Not strtod, because it depends on the program's locale; from_chars does not accept a plus sign.
  const size_t sign = lower.starts_with('+') ? 1 : 0;
  double value = 0;
  const auto [end, status] = std::from_chars(lower.data() + sign, lower.data() + lower.size(), value);
  if (status == std::errc::invalid_argument || end != lower.data() + lower.size())
    return fail("'{}' is not a number", text);
  if (status == std::errc()) return value;
  // Out of range: zero or infinite, by the exponent's sign.
  const double limit = lower.find("e-") != std::string::npos ? 0.0 : std::numeric_limits<double>::infinity();
  return lower.starts_with('-') ? -limit : limit;
}

/// Parses integers; nullopt if a text is not an integer of this type.
template <class T>
std::optional<std::vector<T>> parsed_integers(const std::vector<std::string>& texts) {
  std::vector<T> out(texts.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const char* const end = texts[i].data() + texts[i].size();
    const auto read = std::from_chars(texts[i].data() + (texts[i].starts_with('+') ? 1 : 0), end, out[i]);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  }
  return out;
}

/// Numbers to be cast to `to`. Integers are not read as real numbers, which would round them.
Result<Numbers> parsed(const std::vector<std::string>& texts, DType to) {
  if (is_integer(to)) {
    if (auto integers = parsed_integers<int64_t>(texts)) return std::move(*integers);
    if (auto integers = parsed_integers<uint64_t>(texts)) return std::move(*integers);
  }
  std::vector<double> out;
  for (const std::string& text : texts) {
    ISOMER_TRY(const double value, parsed(text));
    out.push_back(value);
  }
  return out;
}

/// The elements, to be cast to `to`.
Result<Numbers> numbers_of(const Tensor& tensor, DType to) {
  if (tensor.dtype() == DType::String) return parsed(tensor.string_elements(), to);
  const auto codes = [&] { return decoded(tensor); };
  const auto read = [&]<class T>() -> Result<Numbers> {
    if constexpr (std::is_floating_point_v<T>)
      return widened_elements<T, double>(tensor);
    else if constexpr (std::is_integral_v<T>)
      return widened_elements<T, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(tensor);
    else
      return codes();
  };
  return for_stored(tensor.dtype(), read, codes);
}

/// Whether an integer type has a number, truncated towards 0.
bool holds(DType integer, double value) {
  const bool has_sign = is_signed_integer(integer);
  const double end = std::ldexp(1.0, static_cast<int>(dtype_bits(integer)) - (has_sign ? 1 : 0));
  return value < end && std::trunc(value) >= (has_sign ? -end : 0);
}

/// A number truncated towards 0, as a 64-bit integer with or without a sign as `to` has it. Beyond its range, where
/// ONNX leaves the result undefined, the nearest; narrower types get its low bits.
template <class V>
uint64_t integer_bits(V value, DType to) {
  if constexpr (std::is_integral_v<V>) {
    return static_cast<uint64_t>(value);
  } else {
    if (std::isnan(value)) return 0;
    if (value >= 0x1p63 && is_signed_integer(to)) return std::numeric_limits<int64_t>::max();
    if (value >= 0x1p64) return std::numeric_limits<uint64_t>::max();
    if (value >= 0x1p63) return static_cast<uint64_t>(value);
    if (value <= -0x1p63) return uint64_t{1} << 63;
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

template <class To, class V>
void write_integers(const std::vector<V>& values, Tensor& out) {
  const auto to = out.mutable_data<To>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<To>(integer_bits(values[i], out.dtype()));
}

template <class To, class V>
void write_reals(const std::vector<V>& values, Tensor& out) {
  const auto to = out.mutable_data<To>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<To>(values[i]);
}

/// The low bits of a number truncated towards 0.
template <class V>
uint32_t integer_code(V value, DType dtype) {
  const size_t bits = dtype_bits(dtype);
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  return static_cast<uint32_t>(integer_bits(value, dtype) & mask);
}

template <class V>
Status write_codes(const std::vector<V>& values, const SmallFloatRounding& rounding, Tensor& out) {
  const DType dtype = out.dtype();
  for (size_t i = 0; i < values.size(); ++i) {
    const auto code = is_packed_integer(dtype) ? integer_code(values[i], dtype)
                                               : small_float_code(dtype, static_cast<double>(values[i]), rounding);
    if (!code) return fail("the reference kernel does not cast to {}", dtype_name(dtype));
    set_packed_code(out.mutable_bytes(), i, dtype_bits(dtype), *code);
  }
  return {};
}

template <class V>
Status write_elements(const std::vector<V>& values, const SmallFloatRounding& rounding, Tensor& out) {
  if (out.dtype() == DType::Bool) {
    const auto to = out.mutable_data<uint8_t>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = values[i] != V(0) ? 1 : 0;
    return {};
  }
  const auto write_packed = [&] { return write_codes(values, rounding, out); };
  const auto write = [&]<class T>() -> Status {
    if constexpr (!std::is_arithmetic_v<T>) return write_packed();
    if constexpr (std::is_floating_point_v<T>) write_reals<T>(values, out);
    if constexpr (std::is_integral_v<T>) write_integers<T>(values, out);
    return {};
  };
  return for_stored(out.dtype(), write, write_packed);
}

/// "NaN", "INF", or otherwise the shortest text that parses to the same element.
template <class V>
std::string number_text(V value, bool single) {
  if constexpr (std::is_floating_point_v<V>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
    if (single) return fmt::format("{}", static_cast<float>(value));
  }
  return fmt::format("{}", value);
}

Result<SmallFloatRounding> rounding_of(const Attrs& attrs) {
  SmallFloatRounding rounding{.saturate = attrs.integer("saturate") != 0};
  const std::string& mode = attrs.text("round_mode");
  if (mode == "up")
    rounding.mode = SmallFloatRounding::Mode::Up;
  else if (mode == "down")
    rounding.mode = SmallFloatRounding::Mode::Down;
  else if (mode == "nearest")
    rounding.mode = SmallFloatRounding::Mode::Nearest;
  else
    return fail("a cast rounds '{}'", mode);
  return rounding;
}

/// Casts to the result's type, which was inferred.
Status cast_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  const DType to = context.types[0].dtype;
  if (to == x.dtype()) {
    context.results.push_back(x);
    return {};
  }
  if (x.dtype() == DType::Field) return fail("a cast to {} has no meaning in the prime field", dtype_name(to));
  ISOMER_TRY(const SmallFloatRounding rounding, rounding_of(context.attrs));
  ISOMER_TRY(const Numbers numbers, numbers_of(x, to));
  const auto* const reals = std::get_if<std::vector<double>>(&numbers);
  if (reals != nullptr && (is_integer(to) || is_packed_integer(to)))
    context.undefined = !std::ranges::all_of(*reals, [to](double value) { return holds(to, value); });
  Tensor& out = new_result(context);
  if (to != DType::String)
    return std::visit([&](const auto& values) { return write_elements(values, rounding, out); }, numbers);
  std::visit(
      [&](const auto& values) {
        for (size_t i = 0; i < values.size(); ++i)
          out.mutable_strings()[i] = number_text(values[i], x.dtype() != DType::Double);
      },
      numbers);
  return {};
}

/// Casts between real types and to the operand's own type are the identity; any other cast is an uninterpreted
/// function.
void cast_axiom(Axiom& axiom) {
  const int64_t to = axiom.known("to");
  const bool real = to == static_cast<int64_t>(DType::Float) || to == static_cast<int64_t>(DType::Double);
  const SymbolicTensor& x = axiom.operand(0);
  if (real && x.real) {
    axiom.results.push_back(x);
    axiom.results.back().type = to;
    return;
  }
  function_axiom(axiom);
  SymbolicTensor& y = axiom.results.back();
  y.real = real;
  y.type = to;
  if (!x.type) return;
  y.at = [&scope = axiom.scope, x, own = equal(*x.type, to), cast = y.at](const SymbolicIndex& index) {
    return scope.implied(own) ? x.at(index) : cast(index);
  };
}

/// The type of the cast; reals stay in the field.
Result<std::vector<TensorType>> cast_to(const OpView& view, DType to) {
  ISOMER_CHECK(rounding_of(view.attrs));
  if (view.dtype(0) == DType::Field && is_real(to)) to = DType::Field;
  return std::vector<TensorType>{{to, view.shape(0)}};
}

Result<DType> wanted_dtype(const OpView& view) {
  const int64_t number = view.attrs.integer("to");
  const auto dtype = number < 0 || number > 254 ? std::nullopt : dtype_from_onnx(static_cast<int>(number));
  if (!dtype || *dtype == DType::Undefined) return fail("{} to the unknown type {}", view.op.name, number);
  return *dtype;
}

Result<std::vector<TensorType>> infer_cast(const OpView& view) {
  ISOMER_TRY(const DType to, wanted_dtype(view));
  return cast_to(view, to);
}

Result<std::vector<TensorType>> infer_cast_like(const OpView& view) { return cast_to(view, view.dtype(1)); }

/// The type of the second operand is sufficient if it is known.
Status cast_like_from_onnx(OnnxForm& form) {
  if (form.operands.size() != 2) return fail("CastLike got {} operands", form.operands.size());
  if (form.types.size() < 2 || form.types[1] == nullptr || form.types[1]->dtype == DType::Undefined)
    return form.leave_opaque("the type to cast to is not known");
  form.op_type = "Cast";
  form.attrs["to"] = static_cast<int64_t>(form.types[1]->dtype);
  form.operands.resize(1);
  return {};
}

Result<std::vector<TensorType>> infer_bit_cast(const OpView& view) {
  ISOMER_TRY(const DType to, wanted_dtype(view));
  if (dtype_bits(to) != dtype_bits(view.dtype(0)) || dtype_bits(to) == 0 || view.dtype(0) == DType::Field)
    return fail("BitCast of {} to {}, which has another width", view.type(0).str(), dtype_name(to));
  return std::vector<TensorType>{{to, view.shape(0)}};
}

Status bit_cast_kernel(KernelContext& context) {
  const auto from = context.operands[0].bytes();
  const auto to = new_result(context).mutable_bytes();
  std::copy(from.begin(), from.end(), to.begin());
  return {};
}

std::vector<AttrDef> rounding_attrs() {
  return {{.name = "saturate", .kind = AttrKind::Int, .preset = int64_t{1}, .since = 19, .domain = AttrDomain::Fixed},
          {.name = "round_mode", .kind = AttrKind::String, .preset = std::string("up"), .since = 24}};
}

/// Between real types only: the operand of other casts has no gradient.
void cast_gradient(Backward& node) { node.give(0, converted(node.gradient(), node.operand(0).dtype())); }

}  // namespace

std::vector<OpDef> cast_ops() {
  // ONNX's numbers of float, double, int64, int32 and bool.
  const AttrDef to{
      .name = "to", .kind = AttrKind::Int, .domain = AttrDomain::Values, .values = numbers({1, 11, 7, 6, 9})};
  std::vector<AttrDef> cast_attrs = rounding_attrs();
  cast_attrs.push_back(to);
  return {
      {.name = "Cast",
       .attrs = std::move(cast_attrs),
       .infer = infer_cast,
       .flops = flops_per_element,
       .kernel = cast_kernel,
       .compute = Compute::AsIs,
       .axiom = cast_axiom,
       .gradient = cast_gradient,
       .traits = {Trait::Conversion, Trait::Elementwise},
       .since = 6},
      {.name = "CastLike",
       .attrs = rounding_attrs(),
       .min_operands = 2,
       .infer = infer_cast_like,
       .flops = flops_per_element,
       .kernel = cast_kernel,
       .compute = Compute::AsIs,
       .gradient = cast_gradient,
       .traits = {Trait::Elementwise},
       .since = 15,
       .from_onnx = cast_like_from_onnx},
      {.name = "BitCast",
       .attrs = {to},
       .infer = infer_bit_cast,
       .kernel = bit_cast_kernel,
       .compute = Compute::AsIs,
       .since = 26},
  };
}

}  // namespace isomer
