// Activation functions.

#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"
#include "isomer/ops/onnx_form.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// y = f(x) element by element over the real domains.
template <class F>
Status map_real(KernelContext& context, F f) {
  return for_real(context.operands[0].dtype(), [&]<class T>() -> Status {
    const auto x = context.operands[0].data<T>();
    const auto y = new_result(context).mutable_data<T>();
    for (size_t i = 0; i < x.size(); ++i) y[i] = f.template operator()<T>(x[i]);
    return {};
  });
}

Status relu_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() -> Status {
    const auto x = context.operands[0].data<T>();
    const auto y = new_result(context).mutable_data<T>();
    for (size_t i = 0; i < x.size(); ++i) y[i] = scalar_max<T>(x[i], T(0));
    return {};
  });
}

Status sigmoid_kernel(KernelContext& context) {
  return map_real(context, []<class T>(T x) {
    return scalar_function("sigmoid", x, [](auto v) { return 1 / (1 + std::exp(-v)); });
  });
}

Status leaky_relu_kernel(KernelContext& context) {
  const float alpha = context.attrs.real("alpha");
  return map_real(context, [alpha]<class T>(T x) {
    // In the field: x = relu(x) - relu(-x).
    return scalar_max<T>(x, T(0)) - scalar<T>(alpha) * scalar_max<T>(T(0) - x, T(0));
  });
}

OpDef activation(std::string name, KernelFn kernel, int since = 6) {
  return {.name = std::move(name), .infer = infer_same, .flops = flops_per_element, .kernel = kernel, .since = since};
}

}  // namespace

std::vector<OpDef> activation_ops() {
  return {
      activation("Relu", relu_kernel),
      activation("Sigmoid", sigmoid_kernel),
      {.name = "LeakyRelu",
       .attrs = {{.name = "alpha", .kind = AttrKind::Float, .preset = 0.01F}},
       .infer = infer_same,
       .flops = flops_per_element,
       .kernel = leaky_relu_kernel,
       .since = 6},
  };
}

}  // namespace isomer
