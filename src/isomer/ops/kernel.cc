#include "isomer/ops/kernel.h"

#include <cassert>

namespace isomer {

Tensor& new_result(KernelContext& context) {
  const TensorType& type = context.types[context.results.size()];
  const auto dims = concrete(*type.shape);
  assert(dims.has_value());
  context.results.push_back(Tensor::zeros(type.dtype, *dims));
  return context.results.back();
}

std::vector<int64_t> strides_of(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    // If an extent is 0, the others may be so large that strides wrap around, but then nothing reads them.
    stride = static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(dims[i]));
  }
  return strides;
}

std::vector<int64_t> broadcast_strides(const std::vector<int64_t>& operand, const std::vector<int64_t>& dims) {
  const auto own = strides_of(operand);
  std::vector<int64_t> strides(dims.size(), 0);
  const size_t lead = dims.size() - operand.size();
  for (size_t i = 0; i < operand.size(); ++i) strides[lead + i] = operand[i] == 1 ? 0 : own[i];
  return strides;
}

}  // namespace isomer
