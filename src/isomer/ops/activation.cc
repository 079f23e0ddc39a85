// Activation functions.

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/domain.h"
#include "isomer/ops/elementwise.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/onnx_form.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/scalars.h"

namespace isomer {
namespace {

/// The kernel f(x, alpha) with the attribute `alpha`, for a function that captures nothing.
template <class F>
KernelFn alpha_kernel(F /*f*/) {
  return [](KernelContext& context) {
    const float alpha = context.attrs.real("alpha");
    return map_real(context, [alpha]<class T>(T x) -> T { return F().template operator()<T>(x, scalar<T>(alpha)); });
  };
}

Status selu_kernel(KernelContext& context) {
  const float alpha = context.attrs.real("alpha");
  const float gamma = context.attrs.real("gamma");
  return map_real(context, [=]<class T>(T x) -> T { return scalar<T>(gamma) * scalar_elu(x, scalar<T>(alpha)); });
}

Result<std::vector<TensorType>> infer_gelu(const OpView& view) {
  const std::string& approximate = view.attrs.text("approximate");
  if (approximate != "none" && approximate != "tanh") return fail("Gelu approximated by '{}'", approximate);
  return infer_same_real(view);
}

Status gelu_kernel(KernelContext& context) {
  const bool by_tanh = context.attrs.text("approximate") == "tanh";
  return map_real(context, [by_tanh]<class T>(T x) -> T {
    const T half = scalar<T>(0.5);
    if (!by_tanh) return half * x * (T(1) + scalar_erf<T>(x * scalar<T>(0.70710678118654752)));
    const T inner = scalar<T>(0.79788456080286536) * (x + scalar<T>(0.044715) * x * x * x);
    return half * x * (T(1) + scalar_tanh<T>(inner));
  });
}

Status hard_sigmoid_kernel(KernelContext& context) {
  const float alpha = context.attrs.real("alpha");
  const float beta = context.attrs.real("beta");
  return map_real(context, [=]<class T>(T x) { return scalar_hard_sigmoid(x, scalar<T>(alpha), scalar<T>(beta)); });
}

/// A gate and the data that it scales, of the same shape.
Result<std::vector<TensorType>> infer_swiglu(const OpView& view) {
  ISOMER_CHECK(want_real(view, 0));
  if (view.type(0) != view.type(1))
    return fail("SwiGLU of {} and {}, which must be of one type", view.type(0).str(), view.type(1).str());
  return std::vector<TensorType>{view.type(0)};
}

Status swiglu_kernel(KernelContext& context) {
  const float alpha = context.attrs.real("alpha");
  return for_real(context.operands[0].dtype(), [&]<class T>() {
    zip_elements<T, T, T>(context,
                          [alpha](T gate, T x) -> T { return gate * scalar_sigmoid<T>(scalar<T>(alpha) * gate) * x; });
  });
}

/// 0 if |x| is at most lambd, otherwise x moved towards 0 by bias.
Status shrink_kernel(KernelContext& context) {
  const float bias = context.attrs.real("bias");
  const float lambd = context.attrs.real("lambd");
  return map_numeric(context, [=]<class T>(T x) -> T {
    if constexpr (std::is_integral_v<T>) {
      const auto v = static_cast<double>(x);
      return v < -lambd ? saturated<T>(v + bias) : v > lambd ? saturated<T>(v - bias) : T(0);
    } else {
      const T edge = scalar<T>(lambd);
      if (scalar_greater<T>(T(0) - edge, x)) return x + scalar<T>(bias);
      return scalar_greater<T>(x, edge) ? x - scalar<T>(bias) : T(0);
    }
  });
}

Result<std::vector<TensorType>> infer_prelu(const OpView& view) {
  ISOMER_TRY(auto types, infer_broadcast_number(view));
  const bool unidirectional = types[0].rank() == view.rank(0) && view.rank(1) <= view.rank(0);
  for (size_t i = 0; unidirectional && i < view.rank(0); ++i)
    if (view.shape(0)[i].is(1) && !(*types[0].shape)[i].is(1))
      return fail("the slope {} of PRelu does not broadcast to {}", view.type(1).str(), view.type(0).str());
  if (!unidirectional)
    return fail("the slope {} of PRelu does not broadcast to {}", view.type(1).str(), view.type(0).str());
  return std::vector<TensorType>{view.type(0)};
}

Status prelu_kernel(KernelContext& context) {
  return zip_numeric(context, []<class T>(T x, T slope) -> T {
    if constexpr (std::is_same_v<T, Fp>)
      return scalar_leaky_relu(x, slope);
    else
      return x < T(0) ? static_cast<T>(slope * x) : x;
  });
}

/// Inference mode: returns the data unchanged and, on request, a mask that is true everywhere.
Result<std::vector<TensorType>> infer_dropout(const OpView& view) {
  std::vector<TensorType> types{view.type(0)};
  if (view.num_results > 1) types.emplace_back(DType::Bool, view.shape(0));
  return types;
}

Status dropout_kernel(KernelContext& context) {
  context.results.push_back(context.operands[0]);
  if (context.types.size() < 2) return {};
  const auto mask = new_result(context).mutable_data<uint8_t>();
  std::fill(mask.begin(), mask.end(), uint8_t{1});
  return {};
}

/// Whether the fraction of dropped elements is known to be 0.
bool drops_nothing(const OnnxForm& form) {
  if (!form.has(1) || form.operands[1].constant.empty()) return false;
  const auto ratio = float_elements(form.operands[1].constant);
  return ratio && ratio->size() == 1 && (*ratio)[0] == 0;
}

/// Dropout in training mode stays opaque; otherwise it is the identity.
Status dropout_from_onnx(OnnxForm& form) {
  if (form.has(2)) {
    const Tensor& training = form.operands[2].constant;
    if (training.empty() || training.dtype() != DType::Bool || training.element_count() != 1)
      return form.leave_opaque("whether it trains is computed at run time");
    if (training.data<uint8_t>()[0] != 0 && !drops_nothing(form))
      return form.leave_opaque("it is random: it runs in training mode");
  }
  if (form.num_results > 1 && form.opset < 10) return form.leave_opaque("its mask is not boolean at this opset");
  form.attrs.clear();
  if (form.operands.size() > 1) form.operands.resize(1);
  if (form.num_results <= 1) form.op_type = "Identity";
  return {};
}

Status dropout_to_onnx(OnnxForm& form) {
  if (form.num_results > 1 && form.opset < 10) form.obstacle = "the mask of Dropout needs opset 10";
  return {};
}

void relu_axiom(Axiom& axiom) {
  const bool real = axiom.operand(0).real;
  elementwise(axiom, [real](const Elements& x) {
    if (real) return relu(x[0]);
    // Of integers that wrap around, numbers cannot be taken out.
    return is_relu_of_integer(x[0]) ? x[0] : function("Relu", x);
  });
}
void leaky_relu_axiom(Axiom& axiom) {
  on_reals(axiom, [scope = &axiom.scope, alpha = axiom.number("alpha")](const Elements& x) {
    return relu(x[0]) - scope->times(alpha, relu(Rational(-1) * x[0]));
  });
}
void hard_sigmoid_axiom(Axiom& axiom) {
  on_reals(axiom, [scope = &axiom.scope, alpha = axiom.number("alpha"), beta = axiom.number("beta")](
                      const Elements& x) { return relu(smaller(scope->times(alpha, x[0]) + beta, Rational(1))); });
}
Element swish(Scope& scope, const Element& x, const Element& alpha) {
  return scope.times(x, function("Sigmoid", {scope.times(alpha, x)}));
}
void swish_axiom(Axiom& axiom) {
  on_reals(axiom, [scope = &axiom.scope, alpha = axiom.number("alpha")](const Elements& x) {
    return swish(*scope, x[0], alpha);
  });
}
void swiglu_axiom(Axiom& axiom) {
  on_reals(axiom, [scope = &axiom.scope, alpha = axiom.number("alpha")](const Elements& x) {
    return scope->times(swish(*scope, x[0], alpha), x[1]);
  });
}

/// The derivative is 1 where the result is positive.
void relu_gradient(Backward& node) { node.give(0, masked(above(node.result(), 0), node.gradient())); }

void leaky_relu_gradient(Backward& node) {
  const GraphValue g = node.gradient();
  node.give(0, where(above(node.operand(0), 0), g, node.attrs().real("alpha") * g));
}

/// y = alpha (exp(x) - 1) for negative x, so that the derivative is y + alpha.
void elu_gradient(Backward& node) {
  const GraphValue g = node.gradient();
  node.give(0, where(above(node.operand(0), 0), g, g * (node.result() + node.attrs().real("alpha"))));
}

void celu_gradient(Backward& node) {
  const GraphValue g = node.gradient();
  const GraphValue x = node.operand(0);
  node.give(0, where(above(x, 0), g, g * exp(x / node.attrs().real("alpha"))));
}

void selu_gradient(Backward& node) {
  const GraphValue g = node.gradient();
  const double gamma = node.attrs().real("gamma");
  const double alpha = node.attrs().real("alpha");
  node.give(0, where(above(node.operand(0), 0), gamma * g, g * (node.result() + gamma * alpha)));
}

void gelu_gradient(Backward& node) {
  const GraphValue x = node.operand(0);
  if (node.attrs().text("approximate") == "none") {
    const GraphValue cdf = 0.5 * (1 + apply("Erf", {0.70710678118654752 * x}));
    const GraphValue density = 0.3989422804014327 * exp(-0.5 * square(x));
    return node.give(0, node.gradient() * (cdf + x * density));
  }
  const GraphValue t = apply("Tanh", {0.79788456080286536 * (x + 0.044715 * (x * square(x)))});
  const GraphValue inner = 0.79788456080286536 * (1 + 0.134145 * square(x));
  node.give(0, node.gradient() * (0.5 * (1 + t) + 0.5 * x * (1 - square(t)) * inner));
}

void hard_sigmoid_gradient(Backward& node) {
  const GraphValue y = node.result();
  const GraphValue inside = apply("And", {above(y, 0), above(1 - y, 0)});
  node.give(0, masked(inside, node.attrs().real("alpha") * node.gradient()));
}

/// x times the slope of its hard sigmoid, plus the hard sigmoid.
void hard_swish_gradient(Backward& node) {
  const GraphValue x = node.operand(0);
  const GraphValue gate = node.call("HardSigmoid", {{"alpha", 1.0F / 6}, {"beta", 0.5F}}, {x});
  const GraphValue inside = above(3 - apply("Abs", {x}), 0);
  node.give(0, node.gradient() * (gate + masked(inside, x / 6)));
}

void mish_gradient(Backward& node) {
  const GraphValue x = node.operand(0);
  const GraphValue t = apply("Tanh", {apply("Softplus", {x})});
  node.give(0, node.gradient() * (t + x * (1 - square(t)) * sigmoid(x)));
}

/// The derivative of x sigmoid(alpha x).
GraphValue swish_derivative(const GraphValue& x, double alpha) {
  const GraphValue s = sigmoid(alpha * x);
  return s + alpha * (x * s * (1 - s));
}
void swish_gradient(Backward& node) {
  node.give(0, node.gradient() * swish_derivative(node.operand(0), node.attrs().real("alpha")));
}
void swiglu_gradient(Backward& node) {
  const GraphValue gate = node.operand(0);
  const double alpha = node.attrs().real("alpha");
  if (node.needs(0)) node.give(0, node.gradient() * node.operand(1) * swish_derivative(gate, alpha));
  if (node.needs(1)) node.give(1, node.gradient() * gate * sigmoid(alpha * gate));
}

void thresholded_relu_gradient(Backward& node) {
  node.give(0, masked(above(node.operand(0), node.attrs().real("alpha")), node.gradient()));
}
void shrink_gradient(Backward& node) {
  node.give(0, masked(above(apply("Abs", {node.operand(0)}), node.attrs().real("lambd")), node.gradient()));
}

void prelu_gradient(Backward& node) {
  const GraphValue g = node.gradient();
  const GraphValue positive = above(node.operand(0), 0);
  if (node.needs(0)) node.give(0, where(positive, g, g * node.operand(1)));
  if (node.needs(1)) node.give(1, where(positive, number(g, 0), g * node.operand(0)));
}

void dropout_gradient(Backward& node) {
  if (node.has_gradient(0)) node.give(0, node.gradient());
}

OpDef activation(std::string name, KernelFn kernel, GradientFn gradient, int since, std::vector<AttrDef> attrs = {},
                 FlopsFn flops = flops_each<4>, AxiomFn axiom = function_axiom, TraitSet traits = {}) {
  return {.name = std::move(name),
          .attrs = std::move(attrs),
          .infer = infer_same_real,
          .flops = flops,
          .kernel = kernel,
          .axiom = axiom,
          .gradient = gradient,
          .traits = traits.with(Trait::Elementwise),
          .since = since};
}

AttrDef real_attr(std::string name, float preset) {
  return {.name = std::move(name), .kind = AttrKind::Float, .preset = preset};
}

}  // namespace

std::vector<OpDef> activation_ops() {
  constexpr FlopsFn kFunction = flops_each<static_cast<int>(kFunctionFlops)>;
  constexpr TraitSet kMerged{Trait::RealsOnly, Trait::InPlace};
  return {
      {.name = "Relu",
       .infer = infer_same_number,
       .flops = flops_per_element,
       .kernel = numeric_kernel([]<class T>(T x) { return scalar_max<T>(x, T(0)); }),
       .axiom = relu_axiom,
       .gradient = relu_gradient,
       .traits = {Trait::InPlace, Trait::Elementwise},
       .since = 6},
      activation("Sigmoid", real_kernel([]<class T>(T x) { return scalar_sigmoid(x); }),
                 derivative([](const GraphValue&, const GraphValue& y) { return y * (1 - y); }), 6, {}, kFunction,
                 function_axiom, kMerged),
      activation("Tanh", real_kernel([]<class T>(T x) { return scalar_tanh(x); }),
                 derivative([](const GraphValue&, const GraphValue& y) { return 1 - square(y); }), 6, {}, kFunction,
                 function_axiom, kMerged),
      activation("LeakyRelu", alpha_kernel([]<class T>(T x, T alpha) { return scalar_leaky_relu(x, alpha); }),
                 leaky_relu_gradient, 6, {real_attr("alpha", 0.01F)}, flops_each<2>, leaky_relu_axiom, kMerged),
      activation("Elu", alpha_kernel([]<class T>(T x, T alpha) { return scalar_elu(x, alpha); }), elu_gradient, 6,
                 {real_attr("alpha", 1)}, kFunction, function_axiom, {Trait::RealsOnly}),
      // max(0, x) + min(0, alpha (exp(x / alpha) - 1))
      activation("Celu", alpha_kernel([]<class T>(T x, T alpha) -> T {
                   return scalar_max<T>(T(0), x) + scalar_min<T>(T(0), alpha * (scalar_exp<T>(x / alpha) - T(1)));
                 }),
                 celu_gradient, 12, {real_attr("alpha", 1)}, kFunction),
      activation("Selu", selu_kernel, selu_gradient, 6,
                 {real_attr("alpha", 1.67326319217681884765625F), real_attr("gamma", 1.05070102214813232421875F)},
                 kFunction),
      {.name = "Gelu",
       .attrs = {choice("approximate", std::string("none"), texts({"none", "tanh"}))},
       .infer = infer_gelu,
       .flops = kFunction,
       .kernel = gelu_kernel,
       .axiom = function_axiom,
       .gradient = gelu_gradient,
       .traits = {Trait::RealsOnly, Trait::Elementwise},
       .since = 20},
      activation("Softplus", real_kernel([]<class T>(T x) { return scalar_softplus(x); }),
                 derivative([](const GraphValue& x, const GraphValue&) { return sigmoid(x); }), 1, {}, kFunction),
      activation("Softsign", real_kernel([]<class T>(T x) -> T { return scalar_softsign(x); }),
                 derivative([](const GraphValue& x, const GraphValue&) { return 1 / square(1 + apply("Abs", {x})); }),
                 1),
      activation("HardSigmoid", hard_sigmoid_kernel, hard_sigmoid_gradient, 6,
                 {real_attr("alpha", 0.2F), real_attr("beta", 0.5F)}, flops_each<4>, hard_sigmoid_axiom, kMerged),
      // x clip(x + 3, 0, 6) / 6: unlike the variant with 1/6 inside of the clipping, this is how models express it
      // without this operator.
      activation("HardSwish",
                 real_kernel([]<class T>(T x) -> T { return x * scalar_clip<T>(x + T(3), T(0), T(6)) / T(6); }),
                 hard_swish_gradient, 14, {}, flops_each<4>, real_axiom([](Scope& scope, const Elements& x) {
                   return Rational(1, 6) * scope.times(x[0], smaller(relu(x[0] + Rational(3)), Rational(6)));
                 }),
                 kMerged),
      activation("Mish", real_kernel([]<class T>(T x) -> T { return x * scalar_tanh(scalar_softplus(x)); }),
                 mish_gradient, 18, {}, kFunction, real_axiom([](Scope& scope, const Elements& x) {
                   return scope.times(x[0], function("Tanh", {function("Softplus", {x[0]})}));
                 })),
      activation("Swish", alpha_kernel([]<class T>(T x, T alpha) -> T { return x * scalar_sigmoid<T>(alpha * x); }),
                 swish_gradient, 24, {real_attr("alpha", 1)}, kFunction, swish_axiom),
      {.name = "SwiGLU",
       .attrs = {real_attr("alpha", 1)},
       .min_operands = 2,
       .infer = infer_swiglu,
       .flops = kFunction,
       .kernel = swiglu_kernel,
       .axiom = swiglu_axiom,
       .gradient = swiglu_gradient,
       .traits = {Trait::Elementwise},
       .since = 28},
      activation("ThresholdedRelu",
                 alpha_kernel([]<class T>(T x, T alpha) { return scalar_greater(x, alpha) ? x : T(0); }),
                 thresholded_relu_gradient, 10, {real_attr("alpha", 1)}, flops_per_element),
      {.name = "Shrink",
       .attrs = {real_attr("bias", 0), real_attr("lambd", 0.5F)},
       .infer = infer_same_number,
       .flops = flops_each<3>,
       .kernel = shrink_kernel,
       .axiom = function_axiom,
       .gradient = shrink_gradient,
       .traits = {Trait::Elementwise},
       .since = 9},
      {.name = "PRelu",
       .min_operands = 2,
       .infer = infer_prelu,
       .flops = flops_each<2>,
       .kernel = prelu_kernel,
       .axiom = real_axiom(
           [](Scope& scope, const Elements& x) { return relu(x[0]) - scope.times(x[1], relu(Rational(-1) * x[0])); }),
       .gradient = prelu_gradient,
       .traits = {Trait::Elementwise},
       .since = 7},
      {.name = "Dropout",
       .max_results = 2,
       .infer = infer_dropout,
       .kernel = dropout_kernel,
       .compute = Compute::Movement,
       .gradient = dropout_gradient,
       .traits = {Trait::Identity, Trait::Elementwise},
       .since = 7,
       .from_onnx = dropout_from_onnx,
       .to_onnx = dropout_to_onnx},
  };
}

}  // namespace isomer
