#include "isomer/ops/elementwise.h"

namespace isomer {

Status want_number(const OpView& view, size_t i) {
  if (!is_number(view.dtype(i)))
    return fail("operand {} of {} must hold numbers, it is {}", i, view.op.name, view.type(i).str());
  return {};
}

Status want_real(const OpView& view, size_t i) {
  if (!is_real_like(view.dtype(i)))
    return fail("operand {} of {} must hold real numbers, it is {}", i, view.op.name, view.type(i).str());
  return {};
}

Result<std::vector<TensorType>> infer_same_number(const OpView& view) {
  ISOMER_CHECK(want_number(view, 0));
  return infer_same(view);
}

Result<std::vector<TensorType>> infer_same_real(const OpView& view) {
  ISOMER_CHECK(want_real(view, 0));
  return infer_same(view);
}

Result<std::vector<TensorType>> infer_broadcast_number(const OpView& view) {
  for (size_t i = 0; i < view.operands.size(); ++i) {
    if (!view.has(i)) return fail("operand {} of {} is missing", i, view.op.name);
    ISOMER_CHECK(want_number(view, i));
  }
  return infer_broadcast(view);
}

}  // namespace isomer
