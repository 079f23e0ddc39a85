// Pad and CenterCropPad: add elements at the ends of axes, or remove them.

#include <algorithm>

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/axis_map.h"
#include "isomer/ops/domain.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

bool known_mode(const std::string& mode) {
  return mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap";
}

Result<std::vector<TensorType>> infer_pad(const OpView& view) {
  const Ints& pads = view.attrs.ints("pads");
  const size_t rank = view.rank(0);
  if (!known_mode(view.attrs.text("mode"))) return fail("Pad of the unknown mode '{}'", view.attrs.text("mode"));
  if (pads.size() != 2 * rank)
    return fail("Pad of {} needs {} pads, got {}", view.type(0).str(), 2 * rank, pads.size());
  if (view.attrs.has("constant_value")) {
    const Tensor& fill = view.attrs.tensor("constant_value");
    const bool fits = fill.dtype() == view.dtype(0) || (view.dtype(0) == DType::Field && is_real(fill.dtype()));
    if (fill.element_count() != 1 || !fits) return fail("Pad of {} with {}", view.type(0).str(), fill.type().str());
  }
  Shape shape = view.shape(0);
  for (size_t i = 0; i < rank; ++i) {
    const Dim padded = shape[i] + Dim(pads[i]) + Dim(pads[rank + i]);
    // Removed elements must exist, whatever positive pads add at the other end.
    const Dim cropped = shape[i] + Dim(std::min<int64_t>(pads[i], 0)) + Dim(std::min<int64_t>(pads[rank + i], 0));
    if (at_least(cropped, Dim(0)) == false) return fail("Pad removes more than {} has", view.type(0).str());
    shape[i] = padded;
  }
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

/// The operand's position for `at`, which may be outside of an axis of `extent` elements, in the given mode.
int64_t extended(const std::string& mode, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  if (mode == "constant") return kOutside;
  if (mode == "edge" || extent == 1) return at < 0 ? 0 : extent - 1;
  const int64_t period = mode == "wrap" ? extent : 2 * (extent - 1);
  const int64_t phase = ((at % period) + period) % period;
  return phase < extent ? phase : period - phase;
}

/// The fill element of Pad, in the operand's type.
template <class T>
Result<T> fill_element(const Attrs& attrs, DType dtype) {
  if (!attrs.has("constant_value")) return T();
  const Tensor& fill = attrs.tensor("constant_value");
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (dtype == DType::Field && fill.dtype() != DType::Field) {
      ISOMER_TRY(const double real, real_element(fill));
      const auto element = field_from_real(real);
      if (!element) return fail("Pad with {}, which is not an element of the field", real);
      return element->residue();
    }
  }
  if constexpr (std::is_same_v<T, uint8_t>) {  // the attribute is packed; the operand has one element per byte
    const size_t bits = dtype_bits(fill.dtype());
    if (bits > 0 && bits < 8) return static_cast<uint8_t>(fill.bytes()[0]) & ((1U << bits) - 1);
  }
  if (elements<T>(fill).empty()) return fail("Pad of {} with {}", dtype_name(dtype), fill.type().str());
  return elements<T>(fill)[0];
}

Status pad_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  const Ints& pads = context.attrs.ints("pads");
  const std::string& mode = context.attrs.text("mode");
  const size_t rank = x.dims().size();
  return for_width(x.dtype(), [&]<class T>() -> Status {
    ISOMER_TRY(const T fill, fill_element<T>(context.attrs, x.dtype()));
    Tensor& y = new_result(context);
    if (y.element_count() == 0) return {};
    AxisMaps maps(rank);
    for (size_t i = 0; i < rank; ++i) {
      // Negative pads crop before anything is repeated.
      const int64_t first = std::max<int64_t>(-pads[i], 0);
      const int64_t extent = x.dims()[i] - first + std::min<int64_t>(pads[rank + i], 0);
      if (extent <= 0 && mode != "constant") return fail("Pad of mode '{}' has nothing to repeat", mode);
      for (int64_t n = 0; n < y.dims()[i]; ++n) {
        const int64_t at = extended(mode, n - std::max<int64_t>(pads[i], 0), extent);
        maps[i].push_back(at == kOutside ? kOutside : at + first);
      }
    }
    read_through<T>(x, maps, fill, mutable_elements<T>(y));
    return {};
  });
}

/// `extended` for an unknown extent; nullopt outside.
std::optional<Dim> extended(Scope& scope, const std::string& mode, const Dim& at, const Dim& extent) {
  if (scope.decide(within(0, at, extent))) return at;
  if (mode == "constant") return std::nullopt;
  if (mode == "edge" || scope.decide(equal(extent, 1))) return scope.decide(less(at, 0)) ? Dim(0) : extent - 1;
  if (mode == "wrap") return scope.remainder(at, extent);
  const Dim phase = scope.remainder(at, 2 * (extent - 1));
  return scope.decide(less(phase, extent)) ? phase : 2 * (extent - 1) - phase;
}

void pad_axiom(Axiom& axiom) {
  Scope& scope = axiom.scope;
  const SymbolicTensor& x = axiom.operand(0);
  const std::string mode = axiom.text("mode");
  const size_t rank = x.rank();
  const std::vector<Dim>& pads = axiom.integers("pads");
  axiom.require(pads.size() == 2 * rank);
  std::vector<Dim> shape = x.shape;
  std::vector<Dim> first(rank);  // of the elements that negative pads keep
  std::vector<Dim> extents = x.shape;
  for (size_t i = 0; i < rank; ++i) {
    shape[i] = shape[i] + pads[i] + pads[rank + i];
    // Removed elements must exist.
    for (const Dim& left : {x.shape[i] + pads[i], x.shape[i] + pads[rank + i], shape[i]})
      scope.assume(at_most(0, left));
    if (mode == "constant") continue;
    first[i] = scope.decide(less(pads[i], 0)) ? Dim(0) - pads[i] : Dim(0);
    extents[i] = x.shape[i] - first[i] + (scope.decide(less(pads[rank + i], 0)) ? pads[rank + i] : Dim(0));
  }
  if (mode != "constant") {  // repeated elements must exist, unless the result is empty
    std::vector<Formula> none;
    for (const Dim& extent : shape) none.push_back(equal(extent, 0));
    for (const Dim& extent : extents) scope.assume(at_most(1, extent) || any_of(none));
  }
  std::vector<bool> padded;
  for (size_t i = 0; i < rank; ++i) padded.push_back(!scope.implied(equal(pads[i], 0) && equal(pads[rank + i], 0)));
  const Element fill = axiom.has("constant_value") ? axiom.number("constant_value") : Element(0);
  const auto at = [&scope, x, mode, first, extents, fill, pads, padded](const SymbolicIndex& index) {
    SymbolicIndex from;
    if (mode == "constant") {
      std::vector<Formula> inside;
      for (size_t i = 0; i < index.size(); ++i) {
        from.push_back(padded[i] ? index[i] - pads[i] : index[i]);
        if (padded[i]) inside.push_back(within(0, from[i], x.shape[i]));
      }
      return scope.decide(all_of(std::move(inside))) ? x.at(from) : fill;
    }
    for (size_t i = 0; i < index.size(); ++i)
      from.push_back(padded[i] ? *extended(scope, mode, index[i] - pads[i] - first[i], extents[i]) + first[i]
                               : index[i]);
    return x.at(from);
  };
  axiom.results.push_back({std::move(shape), at, x.real});
}

/// Whether a constant is Pad's default, zero.
bool is_default_fill(const Tensor& fill) {
  if (fill.dtype() == DType::String) return fill.string_elements()[0].empty();
  const auto bytes = fill.bytes();
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

/// Opsets before 11 have a float attribute `value`; since 18, `axes` names the axes of `pads`.
Status read_fill(OnnxForm& form) {
  if (form.opset < 11) {
    const auto* value = form.get<float>("value");
    if (value == nullptr) return {};
    if (form.types.empty() || form.types[0] == nullptr) return form.leave_opaque("its element type is not known");
    auto fill = real_scalar(form.types[0]->dtype, *value);
    if (!fill) return form.leave_opaque("it pads no real numbers");
    form.attrs.erase("value");
    if (!is_default_fill(*fill)) form.attrs["constant_value"] = std::move(*fill);
    return {};
  }
  if (!form.has(2) || form.operands[2].constant.empty()) return {};
  const Tensor fill = form.operands[2].constant;
  if (fill.element_count() != 1) return fail("the constant of Pad is {}", fill.type().str());
  drop_operand(form, 2);
  const std::string* mode = form.get<std::string>("mode");
  const bool used = mode == nullptr || *mode == "constant";
  if (used && !is_default_fill(fill)) form.attrs["constant_value"] = fill.reshaped({});
  return {};
}

Status pad_from_onnx(OnnxForm& form) {
  ISOMER_CHECK(read_fill(form));
  ISOMER_TRY(std::optional<Ints> pads, take_ints(form, "pads", 1, 11));
  if (form.opset >= 18 && form.has(3)) {
    ISOMER_TRY(std::optional<Ints> axes, take_ints(form, "axes", 3, 18));
    if (!form.obstacle.empty()) return {};
    const Shape* shape = form_shape(form, 0);
    if (shape == nullptr) return form.leave_opaque("its rank is not known");
    ISOMER_TRY(const auto normal, normal_axes(*axes, shape->size()));
    if (!pads || pads->size() != 2 * normal.size())
      return fail("Pad of {} axes has a different number of pads", normal.size());
    Ints full(2 * shape->size(), 0);
    for (size_t i = 0; i < normal.size(); ++i) {
      full[normal[i]] = (*pads)[i];
      full[shape->size() + normal[i]] = (*pads)[normal.size() + i];
    }
    pads = std::move(full);
  }
  if (pads) form.attrs["pads"] = std::move(*pads);
  return {};
}

Status pad_to_onnx(OnnxForm& form) {
  const std::string* mode = form.get<std::string>("mode");
  if (form.opset < 19 && mode != nullptr && *mode == "wrap")
    return form.leave_opaque("Pad with mode 'wrap' needs opset 19");
  const Tensor* fill = form.get<Tensor>("constant_value");
  if (form.opset >= 11 || fill == nullptr) return {};
  const auto values = float_elements(*fill);
  const bool exact = values && real_scalar(fill->dtype(), (*values)[0]) == fill->reshaped({});
  if (!exact) return form.leave_opaque("the constant of Pad needs opset 11");
  const float value = (*values)[0];
  form.attrs.erase("constant_value");
  form.attrs["value"] = value;
  return {};
}

/// The extent that CenterCropPad requests for each axis; nullopt for axes that it does not change.
Result<std::vector<std::optional<int64_t>>> centered_extents(const Attrs& attrs, size_t rank) {
  const Ints& wanted = attrs.ints("shape");
  Ints axes;
  if (attrs.has("axes")) {
    axes = attrs.ints("axes");
  } else {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  ISOMER_TRY(const auto normal, normal_axes(axes, rank));
  if (wanted.size() != normal.size())
    return fail("CenterCropPad of {} axes to {} extents", normal.size(), wanted.size());
  std::vector<std::optional<int64_t>> extents(rank);
  for (size_t i = 0; i < normal.size(); ++i) {
    if (wanted[i] < 0) return fail("CenterCropPad to the extent {}", wanted[i]);
    extents[normal[i]] = wanted[i];
  }
  return extents;
}

Result<std::vector<TensorType>> infer_center_crop_pad(const OpView& view) {
  ISOMER_TRY(const auto extents, centered_extents(view.attrs, view.rank(0)));
  Shape shape = view.shape(0);
  for (size_t i = 0; i < shape.size(); ++i)
    if (extents[i]) shape[i] = Dim(*extents[i]);
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Status center_crop_pad_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  return for_width(x.dtype(), [&]<class T>() {
    Tensor& y = new_result(context);
    if (y.element_count() == 0) return;
    AxisMaps maps(x.dims().size());
    for (size_t i = 0; i < maps.size(); ++i) {
      const int64_t have = x.dims()[i];
      const int64_t want = y.dims()[i];
      const int64_t shift = want < have ? (have - want) / 2 : -((want - have) / 2);
      for (int64_t n = 0; n < want; ++n) maps[i].push_back(extended("constant", n + shift, have));
    }
    read_through<T>(x, maps, T(), mutable_elements<T>(y));
  });
}

/// Removes what was padded, and fills with zeros what was removed.
void pad_gradient(Backward& node) {
  if (node.attrs().text("mode") != "constant")
    node.refuse(fmt::format("there is no gradient in the mode '{}'", node.attrs().text("mode")));
  Ints pads = node.attrs().ints("pads");
  for (int64_t& pad : pads) pad = -pad;
  node.give(0, padded(node.gradient(), std::move(pads)));
}

}  // namespace

std::vector<OpDef> pad_ops() {
  return {
      {.name = "Pad",
       .attrs = {choice("mode", std::string("constant"), texts({"constant", "edge", "reflect", "wrap"})),
                 {.name = "pads", .kind = AttrKind::Ints, .domain = AttrDomain::Pads},
                 {.name = "constant_value", .kind = AttrKind::Tensor, .optional = true}},
       .infer = infer_pad,
       .kernel = pad_kernel,
       .compute = Compute::Movement,
       .axiom = pad_axiom,
       .gradient = pad_gradient,
       .since = 2,
       .params = {{.index = 1, .attr = "pads", .since = 11}, {.index = 2, .attr = "constant_value", .since = 11}},
       .from_onnx = pad_from_onnx,
       .to_onnx = pad_to_onnx},
      {.name = "CenterCropPad",
       .attrs = {{.name = "shape", .kind = AttrKind::Ints, .domain = AttrDomain::Shape},
                 {.name = "axes", .kind = AttrKind::Ints, .optional = true, .domain = AttrDomain::Axes}},
       .infer = infer_center_crop_pad,
       .kernel = center_crop_pad_kernel,
       .compute = Compute::Movement,
       .since = 18,
       .params = {{.index = 1, .attr = "shape", .since = 18}}},
  };
}

}  // namespace isomer
