// Clip: its bounds are scalars of any numeric type, so they are Tensor attributes.

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/elementwise.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/scalars.h"

namespace isomer {
namespace {

constexpr std::string_view kBounds[] = {"min", "max"};
/// The first opset at which the bounds are operands; they are float attributes before.
constexpr int kOperandsSince = 11;

Result<std::vector<TensorType>> infer_clip(const OpView& view) {
  for (const std::string_view name : kBounds) {
    if (!view.attrs.has(name)) continue;
    const Tensor& bound = view.attrs.tensor(name);
    const bool fits = bound.dtype() == view.dtype(0) || (view.dtype(0) == DType::Field && is_real(bound.dtype()));
    if (!fits || !bound.dims().empty())
      return fail("{} of Clip must be a scalar of {}, it is {}", name, dtype_name(view.dtype(0)), bound.type().str());
  }
  return infer_same_number(view);
}

/// A bound in the kernel's domain.
template <class T>
Result<T> bound_in(const Tensor& bound) {
  if constexpr (std::is_integral_v<T>) {
    ISOMER_TRY(const Ints ints, int_elements(bound));
    return static_cast<T>(ints[0]);
  } else {
    ISOMER_TRY(const double value, real_element(bound));
    if constexpr (std::is_same_v<T, Fp>) {
      const auto element = field_from_real(value);
      if (!element) return fail("the bound {} is not in the prime field", value);
      return *element;
    } else {
      return static_cast<T>(value);
    }
  }
}

template <class T>
Result<std::optional<T>> read_bound(const Attrs& attrs, std::string_view name) {
  if (!attrs.has(name)) return std::optional<T>();
  ISOMER_TRY(const T value, bound_in<T>(attrs.tensor(name)));
  return std::optional<T>(value);
}

Status clip_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() -> Status {
    ISOMER_TRY(const std::optional<T> low, read_bound<T>(context.attrs, "min"));
    ISOMER_TRY(const std::optional<T> high, read_bound<T>(context.attrs, "max"));
    map_elements<T, T>(context, [&](T x) {
      if (low) x = scalar_max<T>(x, *low);
      return high ? scalar_min<T>(x, *high) : x;
    });
    return {};
  });
}

void clip_axiom(Axiom& axiom) {
  const auto bound = [&](const std::string& name) {
    return axiom.has(name) ? std::optional(axiom.number(name)) : std::nullopt;
  };
  on_reals(axiom, [low = bound("min"), high = bound("max")](const Elements& x) {
    const Element clipped = low ? larger(x[0], *low) : x[0];
    return high ? smaller(clipped, *high) : clipped;
  });
}

/// Attributes become scalars of the data's type; bounds of one element become scalars of rank 0.
Status clip_from_onnx(OnnxForm& form) {
  if (form.opset >= kOperandsSince) {
    for (FormOperand& operand : form.operands)
      if (!operand.constant.empty() && operand.constant.element_count() == 1)
        operand.constant = operand.constant.reshaped({});
    return {};
  }
  for (const std::string_view name : kBounds) {
    const std::string key(name);
    if (!form.attrs.contains(key)) continue;
    const float* value = form.get<float>(key);
    if (value == nullptr) return fail("attribute '{}' of Clip must be of kind float", name);
    const DType dtype = form.types.empty() || form.types[0] == nullptr ? DType::Undefined : form.types[0]->dtype;
    if (!is_real(dtype)) return form.leave_opaque("the type of its bounds is not known");
    form.attrs[key] = *real_scalar(dtype, *value);
  }
  return {};
}

Status clip_to_onnx(OnnxForm& form) {
  if (form.opset >= kOperandsSince) return {};
  for (const std::string_view name : kBounds) {
    const Tensor* bound = form.get<Tensor>(std::string(name));
    if (bound == nullptr) continue;
    const Tensor kept = *bound;
    if (!is_real(kept.dtype())) return form.leave_opaque("Clip of integers needs opset 12");
    ISOMER_TRY(const Floats value, float_elements(kept));
    if (!(*real_scalar(kept.dtype(), value[0]) == kept))
      return form.leave_opaque("its bounds cannot be stored in its element type");
    form.attrs[std::string(name)] = value[0];
  }
  return {};
}

AttrDef bound_attr(std::string name, std::vector<AttrValue> values) {
  return {.name = std::move(name),
          .kind = AttrKind::Tensor,
          .optional = true,
          .domain = AttrDomain::Scalar,
          .values = std::move(values)};
}

/// Elements between the bounds, which stay as they are, have the derivative 1.
void clip_gradient(Backward& node) { node.give(0, masked(equal(node.operand(0), node.result()), node.gradient())); }

}  // namespace

std::vector<OpDef> clip_ops() {
  return {{.name = "Clip",
           .attrs = {bound_attr("min", {0.0F, -1.0F}), bound_attr("max", {2.0F, 0.0F})},
           .infer = infer_clip,
           .flops = flops_each<2>,
           .kernel = clip_kernel,
           .axiom = clip_axiom,
           .gradient = clip_gradient,
           .traits = {Trait::InPlace, Trait::Elementwise},
           .since = 6,
           .params = {{.index = 1, .attr = "min", .since = kOperandsSince},
                      {.index = 2, .attr = "max", .since = kOperandsSince}},
           .from_onnx = clip_from_onnx,
           .to_onnx = clip_to_onnx}};
}

}  // namespace isomer
