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

}  // namespace isomer
