// The windows of signal processing: sums of cosines.

#include "isomer/ops/domain.h"
#include "isomer/ops/elementwise.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Result<std::vector<TensorType>> infer_window(const OpView& view) {
  const int64_t size = view.attrs.integer("size");
  const int64_t number = view.attrs.integer("output_datatype");
  if (size < 0) return fail("{} of {} elements", view.op.name, size);
  const auto dtype = number < 1 || number > 254 ? std::nullopt : dtype_from_onnx(static_cast<int>(number));
  if (!dtype || !is_number(*dtype)) return fail("{} of the unknown type {}", view.op.name, number);
  return std::vector<TensorType>{{*dtype, {size}}};
}

/// y[i] = a0 + a1 cos(2 pi i / n) + a2 cos(4 pi i / n), where n is the size (periodic) or the size minus one
/// (symmetric).
Status cosine_sum(KernelContext& context, double a0, double a1, double a2) {
  return for_numeric(context.types[0].dtype, [&]<class T>() {
    const auto y = new_result(context).mutable_data<T>();
    const bool periodic = context.attrs.integer("periodic") != 0;
    const double n = periodic || y.size() == 1 ? static_cast<double>(y.size()) : static_cast<double>(y.size() - 1);
    for (size_t i = 0; i < y.size(); ++i) {
      const double angle = 2 * 3.14159265358979323846 * static_cast<double>(i) / n;
      y[i] = scalar<T>(a0 + a1 * std::cos(angle) + a2 * std::cos(2 * angle));
    }
  });
}

Status hann_kernel(KernelContext& context) { return cosine_sum(context, 0.5, -0.5, 0); }
Status hamming_kernel(KernelContext& context) { return cosine_sum(context, 25.0 / 46, -21.0 / 46, 0); }
Status blackman_kernel(KernelContext& context) { return cosine_sum(context, 0.42, -0.5, 0.08); }

OpDef window_op(std::string name, KernelFn kernel) {
  return {.name = std::move(name),
          .attrs = {{.name = "size", .kind = AttrKind::Int, .domain = AttrDomain::Values, .values = numbers({2, 1, 3})},
                    {.name = "periodic", .kind = AttrKind::Int, .preset = int64_t{1}},
                    {.name = "output_datatype", .kind = AttrKind::Int, .preset = int64_t{1}}},
          .min_operands = 0,
          .infer = infer_window,
          .kernel = kernel,
          .since = 17,
          .params = {{.index = 0, .attr = "size", .since = 17}}};
}

}  // namespace

std::vector<OpDef> window_function_ops() {
  return {window_op("HannWindow", hann_kernel), window_op("HammingWindow", hamming_kernel),
          window_op("BlackmanWindow", blackman_kernel)};
}

}  // namespace isomer
