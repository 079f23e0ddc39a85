#include "isomer/onnx/small_values.h"

#include <algorithm>

#include "isomer/ops/kernel_types.h"

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

}  // namespace

std::optional<std::vector<Tensor>> evaluate_small(const OpDef& op, const Attrs& attrs, std::vector<Tensor> operands,
                                                  std::span<const TensorType> types) {
  if (op.kernel == nullptr || op.data_dependent) return std::nullopt;
  for (Tensor& operand : operands) {
    if (operand.empty()) continue;
    if (!is_small(operand.dtype(), operand.dims())) return std::nullopt;
    operand = widened(op.compute, operand);
  }
  std::vector<TensorType> wide(types.begin(), types.end());
  for (TensorType& type : wide) {
    const auto dims = type.known() ? concrete(*type.shape) : std::nullopt;
    if (!dims || !is_small(type.dtype, *dims)) return std::nullopt;
    type.dtype = kernel_dtype(op.compute, type.dtype);
  }
  KernelContext context{attrs, operands, wide, types};
  if (!op.kernel(context) || context.undefined || context.results.size() != types.size()) return std::nullopt;
  for (size_t i = 0; i < types.size(); ++i)
    context.results[i] = narrowed(op.compute, context.results[i], types[i].dtype);
  return std::move(context.results);
}

}  // namespace isomer
