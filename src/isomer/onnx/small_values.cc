#include "isomer/onnx/small_values.h"

#include <algorithm>

#include "isomer/ops/onnx_form.h"

namespace isomer {
namespace {

constexpr int64_t kMaxIntegers = 1024;
constexpr int64_t kMaxFloats = 64;

bool is_small(DType dtype, const std::vector<int64_t>& dims) {
  const bool integers = is_integer(dtype) || dtype == DType::Bool;
  if (!integers && dtype != DType::Float && dtype != DType::Double) return false;
  int64_t count = 1;
  for (const int64_t dim : dims) {
    count *= std::max<int64_t>(dim, 1);
    if (count > (integers ? kMaxIntegers : kMaxFloats)) return false;
  }
  return true;
}

/// The type of small integers in a Numeric kernel.
DType kernel_type(Compute compute, DType dtype) {
  return compute == Compute::Numeric && is_integer(dtype) && dtype != DType::Uint64 ? DType::Int64 : dtype;
}

template <class To>
Tensor converted(const Tensor& wide, DType dtype) {
  Tensor out = Tensor::zeros(dtype, wide.dims());
  const auto from = wide.data<int64_t>();
  std::transform(from.begin(), from.end(), out.mutable_data<To>().begin(),
                 [](int64_t v) { return static_cast<To>(v); });
  return out;
}

/// Converts int64 elements to their low bits.
Tensor narrowed(const Tensor& wide, DType dtype) {
  if (wide.dtype() == dtype) return wide;
  switch (dtype_bits(dtype)) {
    case 8:
      return converted<uint8_t>(wide, dtype);
    case 16:
      return converted<uint16_t>(wide, dtype);
    default:
      return converted<uint32_t>(wide, dtype);
  }
}

}  // namespace

std::optional<std::vector<Tensor>> evaluate_small(const OpDef& op, const Attrs& attrs, std::vector<Tensor> operands,
                                                  std::span<const TensorType> types) {
  if (op.kernel == nullptr || op.data_dependent) return std::nullopt;
  for (Tensor& operand : operands) {
    if (operand.empty()) continue;
    if (!is_small(operand.dtype(), operand.dims())) return std::nullopt;
    if (kernel_type(op.compute, operand.dtype()) == operand.dtype()) continue;
    const auto wide = int_elements(operand);
    if (!wide) return std::nullopt;
    operand = Tensor::ints(operand.dims(), *wide);
  }
  std::vector<TensorType> wide(types.begin(), types.end());
  for (TensorType& type : wide) {
    const auto dims = type.known() ? concrete(*type.shape) : std::nullopt;
    if (!dims || !is_small(type.dtype, *dims)) return std::nullopt;
    type.dtype = kernel_type(op.compute, type.dtype);
  }
  KernelContext context{attrs, operands, wide};
  if (!op.kernel(context) || context.results.size() != types.size()) return std::nullopt;
  for (size_t i = 0; i < types.size(); ++i) context.results[i] = narrowed(context.results[i], types[i].dtype);
  return std::move(context.results);
}

}  // namespace isomer
