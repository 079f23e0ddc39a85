// Operators that change the shape or the order of elements, and nothing else.

#include <algorithm>

#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"
#include "isomer/ops/onnx_form.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// Attribute `shape` as in ONNX: 0 copies the operand's extent (unless allowzero), one -1 is inferred.
Result<std::vector<TensorType>> infer_reshape(const OpView& view) {
  const Ints& wanted = view.attrs.ints("shape");
  const bool allow_zero = view.attrs.integer("allowzero") != 0;
  Shape shape;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1) return fail("Reshape to the extent {}", wanted[i]);
    if (wanted[i] == -1) {
      if (inferred) return fail("Reshape with more than one -1");
      inferred = i;
      shape.emplace_back(1);
    } else if (wanted[i] == 0 && !allow_zero) {
      if (i >= view.rank(0)) return fail("Reshape copies extent {}, which {} does not have", i, view.type(0).str());
      shape.push_back(view.shape(0)[i]);
    } else {
      shape.emplace_back(wanted[i]);
    }
  }
  const Dim total = element_count(view.shape(0));
  if (inferred) {
    const Dim rest = element_count(shape);
    if (rest.is(0)) return fail("Reshape cannot infer an extent beside an extent of 0");
    shape[*inferred] = floor_div(total, rest);
  }
  const Dim got = element_count(shape);
  if (got.is_const() && total.is_const() && !(got == total))
    return fail("Reshape of {} to {} changes the number of elements", view.type(0).str(), shape_str(shape));
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Status reshape_kernel(KernelContext& context) {
  context.results.push_back(context.operands[0].reshaped(*concrete(*context.types[0].shape)));
  return {};
}

Result<std::vector<TensorType>> infer_transpose(const OpView& view) {
  const Ints& perm = view.attrs.ints("perm");
  if (perm.size() != view.rank(0)) return fail("Transpose needs {} axes, got {}", view.rank(0), perm.size());
  ISOMER_TRY(const auto axes, normal_axes(perm, view.rank(0)));
  Shape shape;
  for (const size_t axis : axes) shape.push_back(view.shape(0)[axis]);
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Status transpose_kernel(KernelContext& context) {
  return for_width(context.operands[0].dtype(), [&]<class T>() -> Status {
    const Tensor& x = context.operands[0];
    const auto own = strides_of(x.dims());
    std::vector<int64_t> strides;
    for (const int64_t axis : context.attrs.ints("perm"))
      strides.push_back(own[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(own.size()) : axis)]);
    Tensor& y = new_result(context);
    const auto from = elements<T>(x);
    const auto to = mutable_elements<T>(y);
    size_t n = 0;
    for_each_position(y.dims(), {strides}, [&](const int64_t* at) { to[n++] = from[static_cast<size_t>(at[0])]; });
    return {};
  });
}

/// ONNX may leave out `perm`: then the axes are reversed, and the rank has to be known to say so.
Status transpose_from_onnx(OnnxForm& form) {
  if (form.attrs.contains("perm")) return {};
  if (form.types.empty() || form.types[0] == nullptr || !form.types[0]->shape)
    return form.leave_opaque("its rank is not known");
  Ints perm(form.types[0]->rank());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(perm.size() - 1 - i);
  form.attrs["perm"] = std::move(perm);
  return {};
}

}  // namespace

std::vector<OpDef> reshape_ops() {
  return {
      {.name = "Reshape",
       .attrs = {{.name = "shape", .kind = AttrKind::Ints},
                 {.name = "allowzero", .kind = AttrKind::Int, .preset = int64_t{0}, .since = 14}},
       .infer = infer_reshape,
       .flops = flops_none,
       .kernel = reshape_kernel,
       .compute = Compute::Movement,
       .since = 1,
       .params = {{.index = 1, .attr = "shape", .since = 5}}},
      {.name = "Transpose",
       .attrs = {{.name = "perm", .kind = AttrKind::Ints}},
       .infer = infer_transpose,
       .flops = flops_none,
       .kernel = transpose_kernel,
       .compute = Compute::Movement,
       .from_onnx = transpose_from_onnx},
  };
}

}  // namespace isomer
