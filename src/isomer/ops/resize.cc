// Resize: interpolation along axes, one axis at a time. Upsample is its older name.

#include <algorithm>
#include <cmath>

#include "isomer/ir/text.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/interpolate.h"
#include "isomer/ops/kernel_types.h"
#include "isomer/ops/product_gradient.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// How Resize changes one axis.
struct AxisPlan {
  bool resized = false;
  std::optional<Dim> extent;  // of the result, if `sizes` is given
  double scale = 1;
  double roi_start = 0;
  double roi_end = 1;
};

Result<std::vector<size_t>> resized_axes(const Attrs& attrs, size_t rank) {
  if (attrs.has("axes")) return normal_axes(attrs.ints("axes"), rank);
  std::vector<size_t> axes(rank);
  for (size_t i = 0; i < rank; ++i) axes[i] = i;
  return axes;
}

/// The plan for each axis according to the attributes. Scales that follow from sizes are computed later.
Result<std::vector<AxisPlan>> read_plan(const Attrs& attrs, size_t rank) {
  ISOMER_TRY(const auto axes, resized_axes(attrs, rank));
  const bool by_scales = attrs.has("scales");
  if (by_scales == attrs.has("sizes")) return fail("Resize needs either scales or sizes");
  const size_t given = by_scales ? attrs.floats("scales").size() : attrs.ints("sizes").size();
  if (given != axes.size()) return fail("Resize of {} axes got {} scales or sizes", axes.size(), given);
  const bool crops = attrs.text("coordinate_transformation_mode") == "tf_crop_and_resize";
  if (crops && (!attrs.has("roi") || attrs.floats("roi").size() != 2 * axes.size()))
    return fail("Resize with tf_crop_and_resize needs two numbers per axis as roi");
  std::vector<AxisPlan> plan(rank);
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisPlan& axis = plan[axes[i]];
    axis.resized = true;
    if (by_scales) {
      axis.scale = attrs.floats("scales")[i];
      if (!(axis.scale > 0) || axis.scale > 1e15) return fail("Resize by the scale {}", axis.scale);
    } else {
      if (attrs.ints("sizes")[i] < 0) return fail("Resize to the extent {}", attrs.ints("sizes")[i]);
      axis.extent = Dim(attrs.ints("sizes")[i]);
    }
    if (!crops) continue;
    axis.roi_start = attrs.floats("roi")[i];
    axis.roi_end = attrs.floats("roi")[axes.size() + i];
    const auto sane = [](double v) { return std::abs(v) < 1e6; };
    if (!sane(axis.roi_start) || !sane(axis.roi_end)) return fail("Resize of a roi that is too large");
  }
  return plan;
}

/// Extents for given scales: floor(extent * scale), in float as in ONNX.
Dim scaled_extent(const Dim& extent, double scale) {
  const auto factor = static_cast<float>(scale);
  if (extent.is_const()) {
    const float product = std::floor(static_cast<float>(extent.value()) * factor);
    return product < static_cast<float>(Dim::kHuge) ? static_cast<int64_t>(product) : Dim::kHuge;
  }
  if (scale == std::floor(scale) && scale < 1e6) return extent * Dim(static_cast<int64_t>(scale));
  const double inverse = 1 / scale;
  // Powers of two are exact; other fractions are rounded before the floor.
  for (int64_t divisor = 2; divisor <= 1024; divisor *= 2)
    if (inverse == static_cast<double>(divisor)) return floor_div(extent, Dim(divisor));
  return Dim::symbol(fmt::format("resize({}*{})", extent.str(), float_str(scale)));
}

/// keep_aspect_ratio_policy other than "stretch": one scale for all resized axes.
Status keep_aspect_ratio(const std::string& policy, const Shape& shape, std::vector<AxisPlan>& plan) {
  if (policy == "stretch") return {};
  if (policy != "not_larger" && policy != "not_smaller") return fail("Resize with the unknown policy '{}'", policy);
  std::optional<double> common;
  for (size_t i = 0; i < plan.size(); ++i) {
    if (!plan[i].resized) continue;
    if (!plan[i].extent) return {};  // the policy only applies to sizes
    if (!shape[i].is_const()) return fail("Resize with the policy '{}' needs known extents", policy);
    if (shape[i].is(0)) return fail("Resize with the policy '{}' of an extent of 0", policy);
    const double scale = static_cast<double>(plan[i].extent->value()) / static_cast<double>(shape[i].value());
    const bool better = !common || (policy == "not_larger" ? scale < *common : scale > *common);
    if (better) common = scale;
  }
  for (size_t i = 0; i < plan.size(); ++i) {
    if (!plan[i].resized) continue;
    const double extent = std::floor(*common * static_cast<double>(shape[i].value()) + 0.5);
    plan[i].scale = *common;
    plan[i].extent = Dim(extent < 0x1p60 ? static_cast<int64_t>(extent) : Dim::kHuge);
  }
  return {};
}

/// The complete plan with the extents of all results.
Result<std::vector<AxisPlan>> make_plan(const Attrs& attrs, const Shape& shape) {
  ISOMER_TRY(auto plan, read_plan(attrs, shape.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!plan[i].extent || !shape[i].is_const() || shape[i].is(0)) continue;
    plan[i].scale = static_cast<double>(plan[i].extent->value()) / static_cast<double>(shape[i].value());
  }
  ISOMER_CHECK(keep_aspect_ratio(attrs.text("keep_aspect_ratio_policy"), shape, plan));
  const bool crops = attrs.text("coordinate_transformation_mode") == "tf_crop_and_resize";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!plan[i].resized) {
      plan[i].extent = shape[i];
    } else if (!plan[i].extent) {
      double scale = plan[i].scale;
      if (crops) {
        if (!shape[i].is_const()) return fail("Resize with tf_crop_and_resize needs known extents");
        scale *= plan[i].roi_end - plan[i].roi_start;
      }
      if (scale < 0) return fail("Resize of a roi that ends before it starts");
      plan[i].extent = scaled_extent(shape[i], scale);
    }
  }
  return plan;
}

Result<std::vector<TensorType>> infer_resize(const OpView& view) {
  ISOMER_TRY(const InterpolationMode mode, interpolation_mode(view.attrs.text("mode")));
  if (view.attrs.integer("antialias") != 0 && mode == InterpolationMode::Nearest)
    return fail("Resize of mode 'nearest' has no antialiasing");
  ISOMER_CHECK(check_coordinate_mode(view.attrs.text("coordinate_transformation_mode")));
  ISOMER_CHECK(check_nearest_mode(view.attrs.text("nearest_mode")));
  ISOMER_TRY(const auto plan, make_plan(view.attrs, view.shape(0)));
  Shape shape;
  for (const AxisPlan& axis : plan) shape.push_back(*axis.extent);
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

/// One multiply-add per sample. Samples per axis: 1 for nearest (a copy without arithmetic), 2 for linear, 4 for cubic.
double resize_flops(const WorkView& view) {
  const std::string& mode = view.attrs.text("mode");
  if (mode == "nearest") return 0;
  double per_element = 0;
  for (size_t i = 0; i < view.results[0].size(); ++i)
    if (view.results[0][i] != view.operands[0][i]) per_element += mode == "linear" ? 4 : 8;
  return per_element * count(view.results[0]);
}

/// The samples of each axis of an operand. The extents of those that change must be known.
Result<std::vector<AxisSamples>> all_samples(const Attrs& attrs, const Shape& shape) {
  ISOMER_TRY(const auto plan, make_plan(attrs, shape));
  std::vector<AxisSamples> samples;
  for (size_t i = 0; i < plan.size(); ++i) {
    const bool same = *plan[i].extent == shape[i] && std::abs(plan[i].scale - 1) <= 1e-9 && plan[i].roi_start == 0 &&
                      plan[i].roi_end == 1;
    samples.emplace_back();
    if (same || plan[i].extent->is(0)) continue;
    if (!shape[i].is_const() || !plan[i].extent->is_const()) return fail("the extent {} is not known", shape[i].str());
    if (shape[i].is(0)) return fail("Resize of an extent of 0");
    ISOMER_TRY(samples.back(), resize_samples(attrs, {.extent_in = shape[i].value(),
                                                      .extent_out = plan[i].extent->value(),
                                                      .scale = plan[i].scale,
                                                      .roi_start = plan[i].roi_start,
                                                      .roi_end = plan[i].roi_end}));
  }
  return samples;
}

Status resize_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  ISOMER_TRY(const auto samples, all_samples(context.attrs, Shape(x.dims().begin(), x.dims().end())));
  return interpolate(context, samples, context.attrs.real("extrapolation_value"));
}

/// The weights of an axis: [positions, extent].
Tensor weights_of(const AxisSamples& samples, int64_t extent, DType dtype) {
  const auto positions = static_cast<int64_t>(samples.size());
  std::vector<double> weights(static_cast<size_t>(positions * extent));
  for (size_t i = 0; i < samples.size(); ++i)
    for (const Sample& sample : samples[i])
      weights[i * static_cast<size_t>(extent) + static_cast<size_t>(sample.at)] += sample.weight;
  if (dtype == DType::Double) return Tensor::of<double>(dtype, {positions, extent}, weights);
  return narrowed(Compute::Numeric, Tensor::floats({positions, extent}, {weights.begin(), weights.end()}), dtype);
}

/// Whether an extent of the result was rounded. The extents that change must be known.
bool has_fractional_extent(const Attrs& attrs, const Shape& shape) {
  if (!attrs.has("scales")) return false;
  const auto plan = make_plan(attrs, shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    const AxisPlan& axis = (*plan)[i];
    if (std::abs(axis.scale - 1) <= 1e-9) continue;
    const auto extent = static_cast<double>(axis.extent->value());
    if (std::abs(static_cast<double>(shape[i].value()) * axis.scale - extent) > 1e-6 * extent) return true;
  }
  return false;
}

/// A resize multiplies each axis with a matrix of weights, so the gradient is multiplied with its transpose. Positions
/// outside of the operand do not depend on it.
void resize_gradient(Backward& node) {
  const GraphValue x = node.operand(0);
  if (node.attrs().text("coordinate_transformation_mode") == "tf_crop_and_resize" && node.attrs().has("scales"))
    node.refuse("engines disagree about the extents of its result");
  const auto samples = all_samples(node.attrs(), x.shape());
  if (!samples) node.refuse(samples.error().message);
  if (node.attrs().text("coordinate_transformation_mode") == "align_corners" &&
      has_fractional_extent(node.attrs(), x.shape()))
    node.refuse("engines disagree about the positions where the extent times the scale is not whole");
  GraphValue g = node.gradient();
  if (std::ranges::any_of(g.shape(), [](const Dim& extent) { return extent.is(0); }))
    node.refuse("its result is empty");
  for (size_t axis = 0; axis < samples->size(); ++axis) {
    if ((*samples)[axis].empty()) continue;
    const GraphValue weights = node.constant(weights_of((*samples)[axis], x.shape()[axis].value(), x.dtype()));
    if (axis + 2 == x.rank()) {
      g = matmul(transposed(weights, {1, 0}), g);
      continue;
    }
    Ints perm = axis_range(0, x.rank());
    std::swap(perm[axis], perm.back());
    const bool last = axis + 1 == x.rank();
    g = matmul(last ? g : transposed(g, perm), weights);
    if (!last) g = transposed(g, perm);
  }
  node.give(0, g);
}

/// Removes empty operands: ONNX represents an absent roi, scales or sizes by an empty tensor.
Status resize_from_onnx(OnnxForm& form) {
  if (form.opset == 10) {
    if (form.operands.size() != 2) return fail("Resize of opset 10 has {} operands", form.operands.size());
    form.operands.insert(form.operands.begin() + 1, FormOperand{});
    form.attrs["coordinate_transformation_mode"] = std::string("asymmetric");
    form.attrs["nearest_mode"] = std::string("floor");
    const auto* how = form.get<std::string>("mode");
    const Tensor& scales = form.operands[2].constant;
    if ((how == nullptr || *how == "nearest") && !scales.empty()) {
      ISOMER_TRY(const Floats factors, float_elements(scales));
      if (std::ranges::any_of(factors, [](float factor) { return factor < 1; }))
        return form.leave_opaque("opset 10 does not say which element is nearest if there are fewer");
    }
  }
  for (size_t i = 1; i < form.operands.size(); ++i) {
    const Tensor& data = form.operands[i].constant;
    if (!data.empty() && data.element_count() == 0) drop_operand(form, i);
  }
  const auto* mode = form.get<std::string>("coordinate_transformation_mode");
  if (mode != nullptr && *mode == "tf_half_pixel_for_nn")
    return form.leave_opaque("coordinates 'tf_half_pixel_for_nn' are not modelled");
  const bool crops = mode != nullptr && *mode == "tf_crop_and_resize";
  if (!crops) drop_operand(form, 1);
  const auto* policy = form.get<std::string>("keep_aspect_ratio_policy");
  const Shape* shape = form_shape(form, 0);
  const bool keeps = policy != nullptr && *policy != "stretch";
  if ((crops || keeps) && (shape == nullptr || !concrete(*shape)))
    return form.leave_opaque("its result depends on extents that are not known");
  return {};
}

/// Before opset 11, Resize only had asymmetric coordinates; before opset 10 it was Upsample. Opsets 11 and 12 require
/// all operands.
Status resize_to_onnx(OnnxForm& form) {
  if (form.opset >= 13) return {};
  if (form.opset >= 11) {
    while (form.operands.size() < 3) form.operands.emplace_back();
    for (size_t i = 1; i < 3; ++i)
      if (form.operands[i].absent()) form.operands[i].constant = Tensor::floats({0}, {});
    return {};
  }
  const auto text = [&](const char* name, const char* preset) {
    const auto* value = form.get<std::string>(name);
    return value == nullptr ? std::string(preset) : *value;
  };
  const std::string mode = text("mode", "nearest");
  const bool nearest = mode == "nearest" && text("nearest_mode", "round_prefer_floor") == "floor";
  const bool asymmetric = text("coordinate_transformation_mode", "half_pixel") == "asymmetric";
  std::map<std::string, AttrValue> kept;
  for (const auto& [name, value] : form.attrs)
    if (name == "mode" || (form.opset < 10 && name == "scales")) kept[name] = value;
  const bool only_scales = form.opset < 10 ? kept.contains("scales") && form.operands.size() == 1
                                           : form.operands.size() == 3 && !form.operands[2].absent();
  if (!asymmetric || !(nearest || mode == "linear") || !only_scales)
    return form.leave_opaque("this kind of Resize needs opset 11");
  form.attrs = std::move(kept);
  if (form.opset == 10) form.operands.erase(form.operands.begin() + 1);
  if (form.opset >= 10) return {};
  form.op_type = "Upsample";
  if (form.opset < 9) return {};
  const Floats scales = *form.get<Floats>("scales");
  form.attrs.erase("scales");
  form.operands.push_back({kNoValue, Tensor::floats({static_cast<int64_t>(scales.size())}, scales)});
  return {};
}

Status upsample_from_onnx(OnnxForm& form) {
  const auto* mode = form.get<std::string>("mode");
  if (mode != nullptr && *mode != "nearest" && *mode != "linear")
    return form.leave_opaque(fmt::format("Upsample of mode '{}' is not modelled", *mode));
  if (form.opset >= 9) {
    if (!form.has(1) || form.operands[1].constant.empty())
      return form.leave_opaque("its parameter 'scales' is computed at run time");
    ISOMER_TRY(Floats scales, float_elements(form.operands[1].constant));
    form.attrs["scales"] = std::move(scales);
    form.operands.resize(1);
  }
  form.op_type = "Resize";
  form.attrs["coordinate_transformation_mode"] = std::string("asymmetric");
  form.attrs["nearest_mode"] = std::string("floor");
  return {};
}

OpDef resize(std::string name, bool upsample) {
  const auto text = [](std::string attr, std::string preset) {
    return AttrDef{.name = std::move(attr), .kind = AttrKind::String, .preset = std::move(preset)};
  };
  AttrDef policy = text("keep_aspect_ratio_policy", "stretch");
  policy.since = 18;
  return {.name = std::move(name),
          .attrs = {text("mode", "nearest"),
                    text("coordinate_transformation_mode", upsample ? "asymmetric" : "half_pixel"),
                    text("nearest_mode", upsample ? "floor" : "round_prefer_floor"),
                    std::move(policy),
                    {.name = "cubic_coeff_a", .kind = AttrKind::Float, .preset = -0.75F},
                    {.name = "exclude_outside", .kind = AttrKind::Int, .preset = int64_t{0}},
                    {.name = "extrapolation_value", .kind = AttrKind::Float, .preset = 0.0F},
                    {.name = "antialias", .kind = AttrKind::Int, .preset = int64_t{0}, .since = 18},
                    {.name = "axes", .kind = AttrKind::Ints, .optional = true, .since = 18, .domain = AttrDomain::Axes},
                    {.name = "roi", .kind = AttrKind::Floats, .optional = true},
                    {.name = "scales", .kind = AttrKind::Floats, .optional = true},
                    {.name = "sizes", .kind = AttrKind::Ints, .optional = true}},
          .infer = infer_resize,
          .flops = resize_flops,
          .kernel = resize_kernel,
          .gradient = resize_gradient,
          .since = 7,
          .params = {{.index = 1, .attr = "roi", .since = 10},
                     {.index = 2, .attr = "scales", .since = 10},
                     {.index = 3, .attr = "sizes", .since = 11}},
          .from_onnx = upsample ? upsample_from_onnx : resize_from_onnx,
          .to_onnx = resize_to_onnx};
}

}  // namespace

std::vector<OpDef> resize_ops() { return {resize("Resize", false), resize("Upsample", true)}; }

}  // namespace isomer
