#include "isomer/ops/window.h"

#include <algorithm>

#include "isomer/ops/form_params.h"

namespace isomer {
namespace {

/// Large enough for all models; the product of two still fits into a Dim.
constexpr int64_t kMaxAttribute = int64_t{1} << 29;

Status check_range(const char* name, const Ints& values, size_t length, int64_t low) {
  if (values.size() != length) return fail("'{}' must have {} elements, it has {}", name, length, values.size());
  for (const int64_t v : values)
    if (v < low || v > kMaxAttribute) return fail("'{}' of {} is out of range", name, v);
  return {};
}

int64_t ceil_div_int(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

/// The total padding of SAME along an axis.
int64_t same_padding(int64_t input, int64_t stride, int64_t reach) {
  return std::max<int64_t>(0, (ceil_div_int(input, stride) - 1) * stride + reach - input);
}

void split_padding(Window& window, size_t axis, int64_t total) {
  const int64_t less = total / 2;
  window.begin[axis] = window.auto_pad == "SAME_UPPER" ? less : total - less;
  window.end[axis] = total - window.begin[axis];
}

/// The number of windows if the last one may extend past the end: A = ceil((input + pads - reach) / stride) + 1. No
/// window may start after the input and its front pad, so there are at most B = ceil((input + begin) / stride).
Dim ceil_count(const Window& window, size_t axis, const Dim& input) {
  const int64_t stride = window.strides[axis];
  const int64_t overhang = window.end[axis] - window.reach(axis);
  const Dim front = input + Dim(window.begin[axis]);
  Dim a = ceil_div(front + Dim(overhang), Dim(stride)) + Dim(1);
  Dim b = ceil_div(front, Dim(stride));
  if (a.is_const() && b.is_const()) return std::min(a.value(), b.value());
  if (overhang + stride <= 0) return a;
  if (overhang >= 0) return b;
  return Dim::symbol(fmt::format("min({},{})", a.str(), b.str()));
}

void want_ints(OnnxForm& form, const char* name, size_t length, int64_t value) {
  if (!form.attrs.contains(name)) form.attrs[name] = Ints(length, value);
}

/// Checks that attributes have the kinds that the hooks read, which corrupt files may violate.
Status check_kinds(const OnnxForm& form) {
  for (const char* name : {"strides", "dilations", "pads"})
    if (form.attrs.contains(name) && form.get<Ints>(name) == nullptr)
      return fail("attribute '{}' must be integers", name);
  if (form.attrs.contains("auto_pad") && form.get<std::string>("auto_pad") == nullptr)
    return fail("attribute 'auto_pad' must be a string");
  return {};
}

/// Replaces SAME_UPPER and SAME_LOWER by pads if the extents are known, or if a stride of 1 makes them irrelevant.
Status resolve_same(OnnxForm& form, size_t spatial, const Ints& kernel) {
  Attrs attrs{{"strides", form.attrs["strides"]},
              {"dilations", form.attrs["dilations"]},
              {"pads", Ints(2 * spatial)},
              {"auto_pad", form.attrs["auto_pad"]}};
  ISOMER_TRY(Window window, read_window(attrs, kernel));
  const bool unit = std::all_of(window.strides.begin(), window.strides.end(), [](int64_t s) { return s == 1; });
  const auto extents = spatial_extents(form, 0);
  const bool known = extents && extents->size() == spatial;
  if (!unit && !known) return {};
  resolve_pads(window, known ? *extents : Ints(spatial, 1));
  Ints pads = window.begin;
  pads.insert(pads.end(), window.end.begin(), window.end.end());
  form.attrs["pads"] = std::move(pads);
  form.attrs["auto_pad"] = std::string("NOTSET");
  return {};
}

}  // namespace

Result<Window> read_window(const Attrs& attrs, Ints kernel) {
  const size_t rank = kernel.size();
  ISOMER_CHECK(check_range("kernel_shape", kernel, rank, 1));
  ISOMER_CHECK(check_range("strides", attrs.ints("strides"), rank, 1));
  const Ints dilations = attrs.has("dilations") ? attrs.ints("dilations") : Ints(rank, 1);
  ISOMER_CHECK(check_range("dilations", dilations, rank, 1));
  const Ints& pads = attrs.ints("pads");
  ISOMER_CHECK(check_range("pads", pads, 2 * rank, 0));
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
  Window window{.kernel = std::move(kernel),
                .strides = attrs.ints("strides"),
                .dilations = dilations,
                .begin = Ints(pads.begin(), middle),
                .end = Ints(middle, pads.end()),
                .auto_pad = attrs.has("auto_pad") ? attrs.text("auto_pad") : "NOTSET",
                .ceil = attrs.has("ceil_mode") && attrs.integer("ceil_mode") != 0};
  if (!window.same() && window.auto_pad != "NOTSET") return fail("auto_pad of '{}' is not known", window.auto_pad);
  if (window.same() && std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; }))
    return fail("pads with an auto_pad of {}", window.auto_pad);
  return window;
}

Result<Ints> weight_kernel(const Shape& weight) {
  if (weight.size() < 3) return fail("a weight of shape {} has no spatial extents", shape_str(weight));
  const auto kernel = concrete(Shape(weight.begin() + 2, weight.end()));
  if (!kernel) return fail("the kernel extents of a weight of shape {} are not known", shape_str(weight));
  return *kernel;
}

Result<Dim> window_count(const Window& window, size_t axis, const Dim& input) {
  const Dim stride(window.strides[axis]);
  if (window.same()) return ceil_div(input, stride);
  Dim count = window.ceil
                  ? ceil_count(window, axis, input)
                  : floor_div(input + Dim(window.begin[axis] + window.end[axis] - window.reach(axis)), stride) + Dim(1);
  if (count.is_const() && count.value() < 0)
    return fail("a window over {} positions does not fit an extent of {} with pads {} and {}", window.reach(axis),
                input.str(), window.begin[axis], window.end[axis]);
  return count;
}

void resolve_pads(Window& window, std::span<const int64_t> spatial) {
  if (!window.same()) return;
  for (size_t i = 0; i < window.rank(); ++i)
    split_padding(window, i, same_padding(spatial[i], window.strides[i], window.reach(i)));
}

std::pair<int64_t, int64_t> Window3::outputs_at(size_t axis, int64_t k) const {
  const int64_t shift = k * dilation[axis] - begin[axis];  // input index of output 0
  const int64_t low = std::max<int64_t>(0, ceil_div_int(-shift, stride[axis]));
  const int64_t high = std::min(output[axis], ceil_div_int(input[axis] - shift, stride[axis]));
  return {low, std::max(low, high)};
}

std::pair<int64_t, int64_t> Window3::positions_at(size_t axis, int64_t o) const {
  const int64_t start = o * stride[axis] - begin[axis];
  const int64_t low = std::max<int64_t>(0, ceil_div_int(-start, dilation[axis]));
  const int64_t high = std::min(kernel[axis], ceil_div_int(input[axis] - start, dilation[axis]));
  return {low, std::max(low, high)};
}

Result<Window3> window3(const Window& window, const std::vector<int64_t>& input, const std::vector<int64_t>& output) {
  if (window.rank() > 3) return fail("the reference kernel has at most 3 spatial axes, not {}", window.rank());
  Window resolved = window;
  resolve_pads(resolved, std::span(input).subspan(2));
  Window3 out{};
  for (auto* triple : {&out.input, &out.output, &out.kernel, &out.stride, &out.dilation}) triple->fill(1);
  const size_t lead = 3 - window.rank();
  for (size_t i = 0; i < window.rank(); ++i) {
    out.input[lead + i] = input[2 + i];
    out.output[lead + i] = output[2 + i];
    out.kernel[lead + i] = resolved.kernel[i];
    out.stride[lead + i] = resolved.strides[i];
    out.dilation[lead + i] = resolved.dilations[i];
    out.begin[lead + i] = resolved.begin[i];
    out.end[lead + i] = resolved.end[i];
  }
  return out;
}

std::vector<AttrDef> window_attrs() {
  return {{.name = "strides", .kind = AttrKind::Ints, .domain = AttrDomain::Strides},
          {.name = "dilations", .kind = AttrKind::Ints, .domain = AttrDomain::Strides},
          {.name = "pads", .kind = AttrKind::Ints, .domain = AttrDomain::WindowPads},
          {.name = "auto_pad", .kind = AttrKind::String, .preset = std::string("NOTSET"), .domain = AttrDomain::Fixed}};
}

Status normalize_window(OnnxForm& form, size_t spatial, const Ints& kernel) {
  if (spatial == 0) return form.leave_opaque("its rank is not known");
  ISOMER_CHECK(check_kinds(form));
  want_ints(form, "strides", spatial, 1);
  want_ints(form, "dilations", spatial, 1);
  const auto* auto_pad = form.get<std::string>("auto_pad");
  if (auto_pad != nullptr && *auto_pad != "NOTSET" && !auto_pad->empty()) {
    const auto* ceil = form.get<int64_t>("ceil_mode");
    if (ceil != nullptr && *ceil != 0 && *auto_pad == "VALID")
      return form.leave_opaque("engines disagree on ceil_mode with an auto_pad of VALID");
    form.attrs["pads"] = Ints(2 * spatial, 0);  // ignored with auto_pad
    if (*auto_pad == "VALID")
      form.attrs["auto_pad"] = std::string("NOTSET");
    else if (kernel.size() == spatial)
      ISOMER_CHECK(resolve_same(form, spatial, kernel));
  } else {
    form.attrs["auto_pad"] = std::string("NOTSET");
  }
  want_ints(form, "pads", 2 * spatial, 0);
  return {};
}

Status write_window(OnnxForm& form, int dilations_since) {
  if (form.attrs.contains("auto_pad")) form.attrs.erase("pads");
  if (form.opset >= dilations_since || form.get<Ints>("dilations") == nullptr) return {};
  const Ints& dilations = *form.get<Ints>("dilations");
  if (std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; }))
    return form.leave_opaque(fmt::format("dilations of {} need opset {}", form.op_type, dilations_since));
  form.attrs.erase("dilations");
  return {};
}

size_t spatial_rank(const OnnxForm& form) {
  for (const TensorType* type : form.types)
    if (type != nullptr && type->shape && type->rank() > 2) return type->rank() - 2;
  for (const char* name : {"kernel_shape", "strides", "dilations"})
    if (const Ints* ints = form.get<Ints>(name)) return ints->size();
  return 0;
}

}  // namespace isomer
